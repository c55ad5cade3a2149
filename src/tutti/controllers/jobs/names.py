"""Names of what is made for a Job.

Where Kubernetes' own Job controller can make a valid name, ours is the same. Where it can't (a Job's
name with dots or too long for a label, two Jobs of one template), the name is cut and hashed.
Nothing is ever found by its name.
"""

from typing import Final

LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
LONGEST: Final = 253
LONGEST_LABEL: Final = 63
LONGEST_GENERATED: Final = 58
"""Of a name to which five random characters are added."""


def hashed(text: str) -> str:
    """FNV-1a of 32 bits; its decimal digits in letters that spell no words."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return "".join(LETTERS[ord(digit) % len(LETTERS)] for digit in str(value))


def workload(job: str, uid: str) -> str:
    ending = hashed(f"(types.UID){uid}")
    return f"{job[: LONGEST - len(ending) - 1]}-{ending}"


def template(job: str) -> str:
    """A label: `JOB-pgt-0` if that is one."""
    plain = f"{job}-pgt-0"
    if "." not in job and len(plain) <= LONGEST_LABEL:
        return plain
    ending = f"-{hashed(job)}-pgt-0"
    return job.replace(".", "-")[: LONGEST_LABEL - len(ending)].rstrip("-") + ending


def pod_group(workload: str, template: str, apart: str = "") -> str:
    """`apart` sets the groups of several Jobs of one template apart; the first one needs none."""
    ending = hashed(f"{workload}{template}{apart}")
    room = LONGEST - len(ending) - 2
    if len(workload) + len(template) > room:
        half = room // 2
        if len(template) <= half:
            workload = workload[: room - len(template)]
        elif len(workload) <= half:
            template = template[: room - len(workload)]
        else:
            workload, template = workload[: room - half], template[:half]
    return f"{workload}-{template}-{ending}"


def pod_prefix(job: str, index: int | None) -> str:
    """What a pod's name begins with; five random characters follow."""
    ending = "-" if index is None else f"-{index}-"
    return job[: LONGEST_GENERATED - len(ending)] + ending
