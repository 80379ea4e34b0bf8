"""Sums over spans of time, which are pairs (begin, end)."""


def union_length(spans):
    """How long at least one of them lasts."""
    total = 0
    end_so_far = None
    for begin, end in sorted(spans):
        if end_so_far is None or begin > end_so_far:
            total += end - begin
            end_so_far = end
        elif end > end_so_far:
            total += end - end_so_far
            end_so_far = end
    return total
