def align(a, b):
    n, m = len(a), len(b)
    s = [[-2 * (i + j) for j in range(m + 1)] for i in range(n + 1)]
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d = s[i - 1][j - 1] + (2 if a[i - 1] == b[j - 1] else -1)
            s[i][j] = max(d, s[i - 1][j] - 2, s[i][j - 1] - 2)
    ops = []
    i, j = n, m
    while i or j:
        if i and j and s[i][j] == s[i - 1][j - 1] + (2 if a[i - 1] == b[j - 1] else -1):
            ops.append(("match" if a[i - 1] == b[j - 1] else "substitute", i - 1, j - 1))
            i, j = i - 1, j - 1
        elif i and s[i][j] == s[i - 1][j] - 2:
            ops.append(("skipped", i - 1, None))
            i -= 1
        else:
            ops.append(("extra", i - 1 if i else None, j - 1))
            j -= 1
    return ops[::-1]
