"""Numbers as people read them."""

from __future__ import annotations

from bot.wording import Language

BAR_CELLS = 20


def span(total_s: float, language: Language = "en") -> str:
    """Seconds as `45s`, `12m 05s`, `3h 20m`, `2d 4h`; in Chinese with 秒, 分, 小时, 天."""
    s, m, h, d = ("s", "m", "h", "d") if language == "en" else ("秒", "分", "小时", "天")
    whole = max(0, round(total_s))
    minutes, secs = divmod(whole, 60)
    hours, mins = divmod(minutes, 60)
    days, hrs = divmod(hours, 24)
    if days:
        return f"{days}{d}" + (f" {hrs}{h}" if hrs else "")
    if hours:
        return f"{hours}{h}" + (f" {mins:02d}{m}" if mins else "")
    if mins:
        return f"{mins}{m}" + (f" {secs:02d}{s}" if secs else "")
    return f"{secs}{s}"


def bar(share: float) -> str:
    """A progress bar of 20 cells and its percentage: `█████░░… 25 %`."""
    part = min(max(share, 0.0), 1.0)
    full = int(part * BAR_CELLS)
    return "█" * full + "░" * (BAR_CELLS - full) + f" {int(part * 100)} %"


def size(count: int) -> str:
    """Bytes as people read them: `1.4 MB`."""
    amount = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
