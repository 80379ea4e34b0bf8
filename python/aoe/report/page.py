"""The page: sections in the order in which one asks. No scripts, nothing from a network."""

import html
import os
import pathlib
import tempfile

from . import of_bank, of_profile, of_result
from .style import STYLE


def write(sources, output):
    """Appears by rename; devices and pipes are written. OSError."""
    output = pathlib.Path(output)
    text = page(sources)
    if output.exists() and not (output.is_file() or output.is_dir()):
        output.write_text(text, encoding="utf-8")
        return output
    with tempfile.NamedTemporaryFile(
        "w", dir=output.parent, suffix=".html", encoding="utf-8", delete=False
    ) as file:
        try:
            file.write(text)
            file.close()
            os.chmod(file.name, 0o666 & ~_umask())
            os.replace(file.name, output)
        except BaseException:
            os.unlink(file.name)
            raise
    return output


def _umask():
    mask = os.umask(0o077)  # there is no other way to ask
    os.umask(mask)
    return mask


def page(sources):
    sections = [section for result in sources.results for section in _of_result(result, sources)]
    for content in sources.banks:
        sections += _of_bank(content, sources)
    for profiled in sources.profiles:
        sections += _of_profile(profiled)
    notes = "".join(f"<p class=note>{html.escape(note)}</p>" for note in sources.notes)
    title = _title(sources)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}\nbody {{ margin: 0; }}\n"
        ".aoe { max-width: 900px; margin: 0 auto; padding: 28px 20px 60px; min-height: 100vh; }\n"
        "html { background: Canvas; color-scheme: light dark; }</style>\n</head>\n<body"
        " class=paper>\n<main class=aoe>\n"
        f'<h1>{html.escape(title)}</h1>\n{notes}{"".join(sections)}\n</main>\n</body>\n</html>\n'
    )


def _title(sources):
    names = [result.name for result in sources.results] or [each.name for each in sources.profiles]
    names = list(dict.fromkeys(names)) or ["knowledge bank"]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _of_result(result, sources):
    several = f" of {html.escape(result.name)}" if len(sources.results) > 1 else ""
    job = "subgraphs" if result.job_type == 1 else "operators"
    yield f"<h2>Tuning{several}: {job}</h2>\n{of_result.verdict(result)}{of_result.facts(result)}"
    yield f"<h3>Tasks</h3>\n{of_result.fates(result)}"
    yield f"<h3>Time and noise</h3>\n{of_result.budget(result)}"
    yield f"<h3>Time by op</h3>\n{of_result.times_by_op(result)}"
    yield f"<h3>What was won</h3>\n{of_result.gains(result)}"


def _of_bank(content, sources):
    """With results, the tasks of theirs alone: a bank may have thousands."""
    mine = {
        task.repo_key for result in sources.results for task in (*result.task_list, *result.ops)
    }
    tasks = [task for task in content.tasks if task.repo_key in mine] if mine else content.tasks
    only = f"<p class=note>Below: {len(tasks)} tasks of the results above.</p>" if mine else ""
    yield f"<h2>Bank</h2>\n{of_bank.bank_summary(content)}{only}"
    yield f"<h3>Convergence</h3>\n{of_bank.convergence(tasks)}"
    yield f"<h3>Why each winner won</h3>\n{of_bank.winners(tasks)}"


def _of_profile(profiled):
    yield (
        f"<h2>Profile of {html.escape(profiled.name)}</h2>\n<h3>Slowest"
        f" ops</h3>\n{of_profile.times(profiled)}"
    )
    yield f"<h3>Roofline</h3>\n{of_profile.roofline(profiled)}"
    hits = of_profile.hits(profiled)
    if hits:
        yield f"<h3>Bank hits</h3>\n{hits}"
