# Inputs and options of tune.smk: lists of a batch tuner's tuning corpus, or of dev. There are no rules here.
#
# needs: train_inputs.smk     gives: is_batch, listed_*, listing_*, list_*, written_lists, last_weights, tune_options


def is_batch(wildcards):
    return wildcards.experiment in BATCH


def list_tuner(name):
    """Return the settings of the tuner that reads the lists of an experiment."""
    experiment = CONFIG.experiments[name]
    return experiment.learner if name in BATCH else commands.held_out_tuner(experiment)


def listed_shard(wildcards):
    if is_batch(wildcards):
        return tuning_files(wildcards)
    return f"{RESULTS}/shards/dev/{CONFIG.decoder.jobs}/{wildcards.shard}.h5"


def listed_model(wildcards):
    return tuning_models(wildcards) if is_batch(wildcards) else MODEL


def last_iteration(name, epoch):
    """Return the last iteration of an epoch; each epoch of a batch tuner is one iteration."""
    if name in BATCH:
        return epoch
    return commands.held_out_iterations(CONFIG.experiments[name])


def iteration_of(wildcards):
    last = last_iteration(wildcards.experiment, int(wildcards.epoch))
    return int(getattr(wildcards, "iteration", last))


def tuning_folder(name, epoch, iteration):
    """Return the folder of an iteration's lists and weights: the epoch's folder for its last iteration."""
    if name in BATCH:
        return experiment_file(name, f"epoch-{iteration}")
    folder = experiment_file(name, f"epoch-{epoch}")
    if iteration == last_iteration(name, epoch):
        return folder
    return f"{folder}/iteration-{iteration}"


def listing_weights(wildcards):
    """Return the weights that decode the lists: the previous iteration's, or at first initial or mixed ones."""
    name, epoch, iteration = (
        wildcards.experiment,
        int(wildcards.epoch),
        iteration_of(wildcards),
    )
    if iteration > 1:
        return f"{tuning_folder(name, epoch, iteration - 1)}/weights.h5"
    if is_batch(wildcards):
        return first_weights(CONFIG.experiments[name])
    return mixed_weights(name, epoch)


def listing_level(wildcards):
    """Return the files that all shards wait for (see `level_before`)."""
    if is_batch(wildcards):
        return level_before(wildcards)
    return ancient(f"{RESULTS}/shards/dev/{CONFIG.decoder.jobs}/files.txt")


def list_command(wildcards):
    return commands.list_command(list_tuner(wildcards.experiment))


@functools.cache
def experiment_list_options(name):
    return commands.list_options(CONFIG, CONFIG.experiments[name], list_tuner(name))


def list_options(wildcards):
    place = commands.options(
        weights=listing_weights(wildcards) or None,
        iteration=iteration_of(wildcards),
        shard_number=wildcards.shard,
    )
    return f"{place} {experiment_list_options(wildcards.experiment)}"


def list_count(wildcards):
    tasks = CONFIG.experiments[wildcards.experiment].tasks
    return tasks.shards if is_batch(wildcards) else CONFIG.decoder.jobs


def lists_per_job(wildcards):
    return shards_per_job(wildcards) if is_batch(wildcards) else 1


def written_lists(name, epoch, iteration):
    """Return the lists to tune on: those of all iterations so far, but only the newest forests of dev."""
    experiment, own = CONFIG.experiments[name], name in BATCH
    shards = experiment.tasks.shards if own else CONFIG.decoder.jobs
    newest_only = not own and commands.list_command(list_tuner(name)) == "forest"
    return [
        f"{tuning_folder(name, epoch, number)}/lists/{shard}.h5"
        for number in range(iteration if newest_only else 1, iteration + 1)
        for shard in range(shards)
    ]


def last_weights(wildcards):
    """Return the weights that the epoch started from, if the tuner searches along the step from there."""
    epoch = int(wildcards.epoch)
    if epoch == 1 or not commands.searches_step(list_tuner(wildcards.experiment)):
        return []
    if CONFIG.experiments[wildcards.experiment].held_out.start == "tuned":
        return experiment_file(wildcards.experiment, f"epoch-{epoch - 1}/weights.h5")
    return mixed_weights(wildcards.experiment, epoch - 1)


def tune_options(wildcards):
    place = commands.options(
        previous=listing_weights(wildcards) or None,
        last=last_weights(wildcards) or None,
        sum_sparse=not is_batch(wildcards),
        shards=list_count(wildcards),
        iteration=iteration_of(wildcards),
    )
    experiment = CONFIG.experiments[wildcards.experiment]
    return f"{place} {commands.tune_options(CONFIG, experiment, list_tuner(wildcards.experiment))}"
