# Removes a limit of Snakemake's scheduler that costs more than it protects. There are no rules here.
#
# gives: lift_rate_limit


def lift_rate_limit():
    """Switch off Snakemake's default limit of 100 jobs per second; a limit that the user has set stays.

    While jobs wait for a core, every step of the scheduler starts a timer that triggers the next step, and every
    job that ends adds a step. After a few hundred jobs, as many threads run steps in which nothing can be done
    (docs/upstream/job_rate_limiter.md). On clusters, jobs are submitted as arrays, so no limit is needed.
    """
    limiter = getattr(workflow.scheduler, "job_rate_limiter", None)
    limit = tuple(getattr(limiter, name, None) for name in ("max_jobs", "timespan"))
    if limit == (100, 1):
        workflow.scheduler.job_rate_limiter = None
