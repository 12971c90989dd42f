"""Statistical experiments on LLM-agent trials."""
