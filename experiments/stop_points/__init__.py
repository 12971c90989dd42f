"""Small repositories, scripted agents that edit them, and what their checks say after each step."""
