"""The columns of jobs and cron jobs."""

from datetime import datetime

from tutti.server import ages
from tutti.server.columns import AGE, NAME, NONE, Cells, Column, Object, Printer, age, wide


def _job(job: Object, now: datetime) -> Cells:
    spec, status = job["spec"], job.get("status", {})
    succeeded, wanted = status.get("succeeded", 0), spec.get("completions")
    completions = f"{succeeded}/{1 if wanted is None else wanted}"
    if wanted is None and spec.get("parallelism", 0) > 1:
        completions += f" of {spec['parallelism']}"
    return [
        job["metadata"]["name"],
        _job_state(job),
        completions,
        _job_duration(status, now),
        age(job, now),
        *containers(spec["template"]["spec"]),
        selector(spec.get("selector")),
    ]


def _job_state(job: Object) -> str:
    """The first of these conditions that is true; being deleted counts between them."""
    conditions = job.get("status", {}).get("conditions", ())
    true = {one["type"] for one in conditions if one["status"] == "True"}
    if "deletionTimestamp" in job["metadata"]:
        true.add("Terminating")
    states = (
        "Complete",
        "Failed",
        "Terminating",
        "Suspended",
        "FailureTarget",
        "SuccessCriteriaMet",
    )
    return next((state for state in states if state in true), "Running")


def _job_duration(status: Object, now: datetime) -> str:
    if not status.get("startTime"):
        return ""
    end = status.get("completionTime")
    return ages.since(status["startTime"], ages.parse(end) if end else now)


def _cron_job(cron: Object, now: datetime) -> Cells:
    spec, status = cron["spec"], cron.get("status", {})
    last = status.get("lastScheduleTime")
    return [
        cron["metadata"]["name"],
        spec["schedule"],
        spec.get("timeZone", NONE),
        "True" if spec.get("suspend") else "False",
        len(status.get("active", ())),
        ages.since(last, now) if last else NONE,
        age(cron, now),
        *containers(spec["jobTemplate"]["spec"]["template"]["spec"]),
        selector(spec["jobTemplate"]["spec"].get("selector")),
    ]


def containers(spec: Object) -> Cells:
    """The names and the images of the containers, each in one cell."""
    containers = spec.get("containers") or ()
    return [",".join(one.get(field, "") for one in containers) for field in ("name", "image")]


def selector(selector: Object | None) -> str:
    """A label selector as people write it on a command line."""
    if not selector:
        return NONE
    terms = [f"{key}={value}" for key, value in sorted(selector.get("matchLabels", {}).items())]
    for asked in selector.get("matchExpressions", ()):
        key, values = asked["key"], ",".join(sorted(asked.get("values", ())))
        match asked["operator"]:
            case "In":
                terms.append(f"{key} in ({values})")
            case "NotIn":
                terms.append(f"{key} notin ({values})")
            case "Exists":
                terms.append(key)
            case _:
                terms.append(f"!{key}")
    return ",".join(terms) or NONE


PRINTERS = {
    "jobs.batch": Printer(
        (
            NAME,
            Column("Status"),
            Column("Completions"),
            Column("Duration"),
            AGE,
            wide("Containers"),
            wide("Images"),
            wide("Selector"),
        ),
        _job,
    ),
    "cronjobs.batch": Printer(
        (
            NAME,
            Column("Schedule"),
            Column("Timezone"),
            Column("Suspend", "boolean"),
            Column("Active", "integer"),
            Column("Last Schedule"),
            AGE,
            wide("Containers"),
            wide("Images"),
            wide("Selector"),
        ),
        _cron_job,
    ),
}
