"""Grade a class: `make grade CHAPTER=ch02 SUBMISSIONS=folder SEED=…`.

One submission after the other; each verdict is kept at once, so a run that was stopped goes on
where it was, and a second run judges only what changed.
"""

import argparse
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from grader import judge as machine
from grader import reading, report, results, sandbox
from grader.collect import CollectError, Student, Submission, collect, plain, read_class
from grader.gradebook import book_results, booked, forget
from grader.judge import TaskMark, Verdict
from grader.reading import Handed
from grader.results import Result
from grader.tasks import EXERCISES, known_chapters, load_tasks

Judge = Callable[..., Verdict]
Say = Callable[[str], None]
SHORTEST_SEED = 8
DRAW = "python3 -c 'import secrets; print(secrets.token_hex(8))'"


def refusal(chapter: str, seed: str) -> str:
    """Why grading must not start, or nothing."""
    known = known_chapters()
    if chapter not in known:
        return f"CHAPTER={plain(chapter)}: name one of {' '.join(known)}"
    if len(seed) < SHORTEST_SEED:
        return (
            "SEED is missing or shorter than 8 characters. The inputs on which answers are tried "
            "are drawn from it; who can guess it can prepare for them. "
            f"Draw one, keep it secret, use it for the whole class:  {DRAW}  "
            "Then type  read -rs SEED; export SEED  and paste it: so it is in no history"
        )
    return ""


def nothing_right(chapter: str, student: Student, status: str, note: str) -> Verdict:
    """The verdict on what was never run."""
    marks = tuple(TaskMark(task.name, 0, task.points) for task in load_tasks(chapter))
    return Verdict(student.key, chapter, status, marks, 0.0, note)


def judged(submission: Submission, chapter: str, seed: str, judge: Judge) -> Result:
    """One submission's result; should the judge itself fail, it is judged again next time."""
    student, path = submission.student, submission.path
    made_from = results.made_from(chapter, seed, path, submission.note)
    if path is None:
        verdict = nothing_right(chapter, student, submission.status, submission.note)
        return Result(student, verdict, "", made_from, Handed(unread=submission.note))
    try:
        verdict = judge(path, student.key, chapter, seed)
        if verdict.sha256 and verdict.sha256 != made_from["file"]:
            made_from = {}  # the file changed meanwhile
    except Exception as error:  # one submission's trouble is never another's
        told = (
            f"the judge failed, which is no fault of the learner's: {type(error).__name__}: {error}"
        )
        verdict, made_from = nothing_right(chapter, student, "crashed", plain(told, 300)), {}
    try:
        handed = reading.read(path, chapter, verdict.sha256)
    except Exception as error:  # the same
        handed, made_from = Handed(unread=plain(str(error) or type(error).__name__, 300)), {}
    unread = f"the written answer waits: {handed.unread}" if handed.unread else ""
    if verdict.status == "unreadable":
        unread = ""  # it says so already
    notes = filter(None, (submission.note, verdict.note, unread))
    verdict = replace(verdict, note="; ".join(notes))
    return Result(student, verdict, str(path.resolve()), made_from, handed)


def line_of(result: Result) -> str:
    verdict = result.verdict
    points = f"{sum(m.points for m in verdict.marks)} of {sum(m.of for m in verdict.marks)}"
    note = f"  {plain(verdict.note)}" if verdict.note else ""
    line = (
        f"{result.student.key:<24} {verdict.status:<10} {points:>9} {verdict.seconds:6.1f} s{note}"
    )
    return line.rstrip()


def work(
    todo: Sequence[Submission], do: Callable[[Submission], Result], jobs: int
) -> Iterator[Result]:
    """The results as they come, `jobs` at a time; on a stop nothing more is begun."""
    if jobs == 1:
        yield from map(do, todo)
        return
    with ThreadPoolExecutor(jobs) as pool:
        waiting: list[Future[Result]] = [pool.submit(do, submission) for submission in todo]
        try:
            yield from (done.result() for done in as_completed(waiting))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def outdated(kept: Mapping[str, Result], submissions: Sequence[Submission]) -> dict[str, str]:
    """Results that a new class list or a renamed student left behind, and why they go."""
    keys = {s.student.key for s in submissions}
    owner = {str(s.path.resolve()): s.student.key for s in submissions if s.path}
    gone = {}
    for key, result in kept.items():
        if key not in keys and not result.file:
            gone[key] = "no longer on the class list or in the folder"
        elif key not in keys and result.file in owner:
            gone[key] = f"the file is that of {owner[result.file]} now"
    return gone


def grade_class(
    chapter: str,
    submissions: Iterable[Submission],
    seed: str,
    course: Path = results.COURSE,
    *,
    judge: Judge | None = None,
    again: Collection[str] = (),
    jobs: int = 1,
    say: Say = print,
    bar: bool = False,
) -> dict[str, Result]:
    """Judge what is new or changed, keep each verdict at once, and return all of the chapter.

    again    keys of students to judge once more, or {"all"}, which goes on after a stop
    say      gets one line a student; with `bar` only where there is something to tell
    """
    judge, folder, submissions = judge or machine.judge, course / chapter, list(submissions)
    kept, todo, absent = results.load(folder), [], 0
    everybody = "all" in again
    since = results.judged_again(folder) if everybody else set()
    for key, why in outdated(kept, submissions).items():
        results.forget(folder, key)
        del kept[key]
        say(f"{key}: left out, {why}")
    for submission in submissions:
        student = submission.student
        path, before = submission.path, kept.get(student.key)
        if submission.status == "missing":
            if before is None or before.verdict.status == "missing":
                verdict, absent = nothing_right(chapter, student, "missing", ""), absent + 1
                kept[student.key] = Result(student, verdict, "", {})
                results.save(folder, kept[student.key])
            continue
        wanted = results.made_from(chapter, seed, path, submission.note)
        asked = student.key in again or (everybody and student.key not in since)
        if before and before.made_from == wanted and not asked:
            now = replace(before, student=student, file=str(path.resolve()) if path else "")
            if now != before:
                kept[student.key] = now
                results.save(folder, now)
            continue
        todo.append(submission)
    unchanged = len(kept) - absent - len({s.student.key for s in todo} & set(kept))
    if since:
        file = plain(str(folder / "again.txt"), 300)
        say(f"AGAIN=all goes on where it was stopped; to begin anew, delete {file}")
    say(f"{chapter}: {len(todo)} to judge, {unchanged} as judged before, {absent} missing")
    done = work(todo, lambda submission: judged(submission, chapter, seed, judge), jobs)
    for number, result in enumerate(tqdm(done, total=len(todo), disable=not bar), start=1):
        results.save(folder, result)
        if everybody:
            results.note_judged_again(folder, result.student.key)
        kept[result.student.key] = result
        if not bar or result.verdict.status != "graded":
            tell = tqdm.write if bar else say
            tell(f"[{number:>3}/{len(todo)}] {line_of(result)}")
    if everybody:
        results.end_judging_again(folder)
    return dict(sorted(kept.items()))


def publish(
    chapter: str, graded: Mapping[str, Result], course: Path = results.COURSE, say: Say = print
) -> None:
    """Into the gradebook, then the report, with the marks that were given by hand."""
    for line in book_results(course, chapter, list(graded.values())):
        say(line)
    for line in forget(course, chapter):
        say(line)
    by_hand = booked(course, chapter)
    say("")
    say(report.text(chapter, list(graded.values()), by_hand))
    for path in report.write(course, chapter, list(graded.values()), by_hand):
        say(f"written: {path}")


def twins(graded: Mapping[str, Result], chapter: str) -> list[str]:
    """Students whose files are the same to the byte, and not the exercise as it was handed out."""
    by_file: dict[str, list[str]] = {}
    for key, result in graded.items():
        if result.file:
            by_file.setdefault(result.made_from.get("file", ""), []).append(key)
    untouched = results.sha256(EXERCISES / chapter / f"{chapter}.ipynb")
    return [
        f"the same file to the byte: {', '.join(keys)}"
        for file, keys in by_file.items()
        if len(keys) > 1 and file not in ("", untouched)
    ]


def class_list(named: str) -> dict[str, Student] | None:
    """The class list that was named, or none; never one among the submissions."""
    if named and not Path(named).is_file():
        raise CollectError(f"STUDENTS={plain(named)}: there is no such file")
    return read_class(Path(named)) if named else None


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; what make exports stands in for arguments that are not given."""
    given = os.environ.get
    parser = argparse.ArgumentParser(prog="grade", description=__doc__, allow_abbrev=False)
    parser.add_argument("--chapter", default=given("CHAPTER", ""), help="for example ch02")
    parser.add_argument("--submissions", default=given("SUBMISSIONS", ""), help="the folder")
    parser.add_argument("--students", default=given("STUDENTS", ""), help="class list, a CSV")
    parser.add_argument("--again", default=given("AGAIN", ""), help="students, or all")
    parser.add_argument("--jobs", default=given("JOBS", "") or "1", help="how many at a time")
    parser.add_argument("--course", type=Path, default=results.COURSE, help="results, gradebook")
    options = parser.parse_args(arguments)
    seed, chapter = given("SEED", ""), options.chapter  # never an argument: others could read it
    why = refusal(chapter, seed)
    if not why and not options.submissions:
        why = "SUBMISSIONS is missing: name the folder that the notebooks are in"
    if not why and not re.fullmatch(r"[1-9]\d?", options.jobs):
        why = f"JOBS={plain(options.jobs)}: a number from 1 to 99"
    if why:
        print(why, file=sys.stderr)
        return 2
    again = set(re.split(r"[\s,]+", options.again)) - {""}
    try:
        sandbox.require()
        listed = class_list(options.students)
        found, left = collect(Path(options.submissions), chapter, listed)
        unknown = again - {"all"} - {s.student.key for s in found}
        if unknown:
            keys = "its name in the table, or in brackets behind it"
            raise CollectError(f"AGAIN={plain(' '.join(sorted(unknown)))}: nobody's key ({keys})")
        results.make_private(options.course)
    except (CollectError, sandbox.SandboxMissing, OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 2
    for line in left:
        print(line)
    strangers = [s.student.key for s in found if listed and not s.student.listed]
    if strangers:
        print(f"not on the class list: {', '.join(strangers)}")
    bar = sys.stderr.isatty()
    try:
        graded = grade_class(
            chapter, found, seed, options.course, again=again, jobs=int(options.jobs), bar=bar
        )
    except KeyboardInterrupt:
        print(
            "\nstopped; every verdict so far is kept, and the same command goes on "
            "(names behind AGAIN= from the first). The report is as it was",
            file=sys.stderr,
        )
        return 130
    publish(chapter, graded, options.course)
    for line in twins(graded, chapter):
        print(line)
    elsewhere = sorted(set(graded) - {s.student.key for s in found})
    if elsewhere:
        print(f"judged before, no file here now: {', '.join(elsewhere)}")
    mixed = {r.made_from["secret"] for r in graded.values() if "secret" in r.made_from}
    if len(mixed) > 1:
        print("some of these marks were made with another SEED: use one for the whole class")
    return int(any(not r.made_from and r.file for r in graded.values()))


if __name__ == "__main__":
    sys.exit(main())
