/* Options, exit codes, and nothing else. */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "base/lsn.h"
#include "base/status.h"
#include "config/config.h"
#include "relay/ask.h"
#include "relay/relay.h"
#include "sink/sinks.h"

enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    SOURCE_COUNT_MAX = 256,
    ANSWER_SIZE_MAX = 1 << 16
};

static const char USAGE[] =
    "walrelay - PostgreSQL to Kafka, in place of Debezium and Kafka Connect\n"
    "\n"
    "  walrelay run -c FILE [-c FILE…] [--set KEY=VALUE…] [--sinks | --stdout] [--endpos LSN]\n"
    "  walrelay sink ROUTE -c FILE [-c FILE…] [--set KEY=VALUE…]\n"
    "  walrelay snapshot -c FILE [-c FILE…] [--set KEY=VALUE…] TABLE… | --stop | --pause | "
    "--resume\n"
    "  walrelay config [KEY]      every property: type, default, meaning\n"
    "  walrelay --help | --version\n"
    "\n"
    "`walrelay COMMAND --help` says more.\n";

static const char USAGE_RUN[] =
    "walrelay run -c FILE [-c FILE…] [--set KEY=VALUE…] [--sinks | --stdout] [--endpos LSN]\n"
    "\n"
    "Reads the replication slot and publishes until SIGTERM or SIGINT; then everything that was\n"
    "read is acknowledged and confirmed before it exits.\n"
    "\n"
    "  -c, --config FILE    a .properties file or Connect JSON; of several, later ones win\n"
    "      --set KEY=VALUE  one property, as if it stood in a last file\n"
    "      --sinks          delivers the records of every route that has a sink.url, too; one "
    "that\n"
    "                       fails leaves the rest alone, and the exit code is 1 in the end\n"
    "      --stdout         records to standard output, one JSON line each; needs no Kafka\n"
    "      --endpos LSN     exit once everything up to LSN (as 16/B374D848) is confirmed\n"
    "      --accept-gap     start although changes were lost, as the refusal before said; once\n"
    "      --verbose        debug lines in the log\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done, 1 failed while running, 2 usage or configuration.\n"
    "The log goes to standard error, one logfmt line an event.\n";

static const char USAGE_SINK[] =
    "walrelay sink ROUTE -c FILE [-c FILE…] [--set KEY=VALUE…]\n"
    "\n"
    "Delivers the records of one route from Kafka to the server that routes.ROUTE.sink.url names,\n"
    "until SIGTERM or SIGINT. Start it several times to share the work: they are one consumer\n"
    "group. The configuration is that of `walrelay run`; PostgreSQL is not connected to.\n"
    "\n"
    "  -c, --config FILE    a .properties file or Connect JSON; of several, later ones win\n"
    "      --set KEY=VALUE  one property, as if it stood in a last file\n"
    "      --verbose        debug lines in the log\n"
    "  -h, --help           this text\n"
    "\n"
    "Exit codes: 0 done, 1 failed while running, 2 usage or configuration.\n"
    "The log goes to standard error, one logfmt line an event.\n";

static const char USAGE_SNAPSHOT[] =
    "walrelay snapshot -c FILE [-c FILE…] [--set KEY=VALUE…] TABLE…\n"
    "walrelay snapshot -c FILE [-c FILE…] [--set KEY=VALUE…] --stop [TABLE…] | --pause | --resume\n"
    "\n"
    "Asks the relay that runs with this configuration to publish what the tables hold, while "
    "their\n"
    "changes go on. It is asked by a logical message: no signal table is needed.\n"
    "\n"
    "  TABLE                   schema.table, or a regular expression for some\n"
    "  -c, --config FILE       as of `walrelay run`\n"
    "      --set KEY=VALUE     as of `walrelay run`\n"
    "      --filter TABLE=SQL  only these rows of the table, as in a WHERE\n"
    "      --surrogate-key C   a column to go by where a table has no primary key\n"
    "      --stop              ends the snapshot, or leaves these tables out of it\n"
    "      --pause, --resume   holds it, and goes on\n"
    "  -h, --help              this text\n"
    "\n"
    "Exit codes: 0 asked, 1 could not ask, 2 usage or configuration.\n";

struct snapshot_arguments {
    struct config_source sources[SOURCE_COUNT_MAX];
    size_t source_count;
    struct ask ask;
    const char *filters[SOURCE_COUNT_MAX];
};

/* Of `run` and of `sink`. */
struct arguments {
    struct config_source sources[SOURCE_COUNT_MAX];
    size_t source_count;
    struct relay_options options;
    bool with_sinks;
    const char *route; /* of `sink`; NULL: the command is `run` */
};

static int usage_error(const char *format, ...) WR_PRINTF(1, 2);

static int usage_error(const char *format, ...)
{
    va_list args;

    fputs("walrelay: ", stderr);
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    fputs("\nTry `walrelay --help`.\n", stderr);
    return EXIT_USAGE;
}

static bool add_source(struct config_source *sources, size_t *count, struct config_source source)
{
    if (*count == SOURCE_COUNT_MAX) {
        return false;
    }
    sources[(*count)++] = source;
    return true;
}

enum {
    OPTION_SET = 256,
    OPTION_STDOUT,
    OPTION_ENDPOS,
    OPTION_SINKS,
    OPTION_VERBOSE,
    OPTION_ACCEPT_GAP
};

/* -1: go on; else the exit code. */
static int take_option(int option, struct arguments *out)
{
    bool fits = true;

    switch (option) {
    case 'c':
        fits = add_source(out->sources, &out->source_count, (struct config_source){.path = optarg});
        break;
    case OPTION_SET:
        if (strchr(optarg, '=') == NULL) {
            return usage_error("--set wants KEY=VALUE, not \"%s\"", optarg);
        }
        fits = add_source(out->sources, &out->source_count, (struct config_source){.set = optarg});
        break;
    case OPTION_STDOUT:
        out->options.to_stdout = true;
        break;
    case OPTION_ENDPOS:
        if (!wr_lsn_parse(optarg, &out->options.endpos) || out->options.endpos == 0) {
            return usage_error("--endpos wants an LSN such as 16/B374D848, not \"%s\"", optarg);
        }
        break;
    case OPTION_ACCEPT_GAP:
        out->options.accept_gap = true;
        break;
    case OPTION_SINKS:
        out->with_sinks = true;
        break;
    case OPTION_VERBOSE:
        wr_log_level_set(WR_LOG_DEBUG);
        break;
    default:
        abort();
    }
    return fits ? -1 : usage_error("too many -c and --set");
}

/* -1: go on with what was read; else the exit code. */
static int parse_options(int argc, char **argv, const struct option *options, const char *usage,
                         struct arguments *out)
{
    int option = 0;
    int code = -1;

    while (code < 0 && (option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_DONE;
        }
        code = option == '?' ? usage_error("see the options of `walrelay %s --help`", argv[0])
                             : take_option(option, out);
    }
    return code;
}

#define OPTIONS_OF_ALL                                                                             \
    {"config", required_argument, NULL, 'c'}, {"set", required_argument, NULL, OPTION_SET},        \
        {"verbose", no_argument, NULL, OPTION_VERBOSE}, {"help", no_argument, NULL, 'h'},          \
    {                                                                                              \
        NULL, 0, NULL, 0                                                                           \
    }

static int parse_run(int argc, char **argv, struct arguments *out)
{
    static const struct option options[] = {
        {"stdout", no_argument, NULL, OPTION_STDOUT},
        {"endpos", required_argument, NULL, OPTION_ENDPOS},
        {"accept-gap", no_argument, NULL, OPTION_ACCEPT_GAP},
        {"sinks", no_argument, NULL, OPTION_SINKS},
        OPTIONS_OF_ALL,
    };
    int code = parse_options(argc, argv, options, USAGE_RUN, out);

    if (code >= 0) {
        return code;
    }
    if (optind < argc) {
        return usage_error("\"%s\" is no option of run", argv[optind]);
    }
    if (out->source_count == 0) {
        return usage_error("run wants a configuration: -c FILE");
    }
    if (out->with_sinks && out->options.to_stdout) {
        return usage_error("--sinks reads from Kafka, and --stdout writes nothing there");
    }
    return -1;
}

static int parse_sink(int argc, char **argv, struct arguments *out)
{
    static const struct option options[] = {OPTIONS_OF_ALL};
    int code = parse_options(argc, argv, options, USAGE_SINK, out);

    if (code >= 0) {
        return code;
    }
    if (optind != argc - 1) {
        return usage_error("sink wants the name of one route");
    }
    if (out->source_count == 0) {
        return usage_error("sink wants a configuration: -c FILE");
    }
    out->route = argv[optind];
    return -1;
}

static void report_problem(const char *problem)
{
    (void)fprintf(stderr, "walrelay: %s\n", problem);
}

static bool is_ok(enum wr_status status, const struct wr_error *err)
{
    if (status != WR_OK) {
        wr_log(WR_LOG_ERROR, err->where, WR_MSG(err->text));
    }
    return status == WR_OK;
}

/* The sinks first: their threads must not take the relay's signals. */
static bool run_with_sinks(const struct config *config, const struct relay_options *options)
{
    struct wr_error err = {0};
    struct sinks *sinks = NULL;
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (!is_ok(sinks_start(config, NULL, &sinks, &err), &err)) {
        return false;
    }
    bool relay_is_well = is_ok(relay_run(config, options, &err), &err);
    return sinks_stop(sinks) && relay_is_well;
}

static bool run_config(const struct config *config, const struct arguments *arguments)
{
    struct wr_error err = {0};

    if (arguments->route != NULL) {
        return sinks_run_one(config, arguments->route);
    }
    return arguments->with_sinks ? run_with_sinks(config, &arguments->options)
                                 : is_ok(relay_run(config, &arguments->options, &err), &err);
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {.source_count = 0};
    struct config *config = NULL;
    struct wr_error err = {0};
    int code = strcmp(argv[0], "sink") == 0 ? parse_sink(argc, argv, &arguments)
                                            : parse_run(argc, argv, &arguments);

    if (code >= 0) {
        return code;
    }
    if (config_load(arguments.sources, arguments.source_count, !arguments.options.to_stdout,
                    report_problem, &config, &err) != WR_OK) {
        report_problem(err.text);
        return EXIT_USAGE;
    }
    if (!wr_failpoint_setup()) {
        return usage_error("WALRELAY_FAILPOINT names no failpoint");
    }
    bool is_well = run_config(config, &arguments);
    config_free(config);
    return is_well ? EXIT_DONE : EXIT_FAILED;
}

/* -1: go on with what was read; else the exit code. */
static int check_snapshot(const struct snapshot_arguments *arguments)
{
    const struct ask *ask = &arguments->ask;

    if (arguments->source_count == 0) {
        return usage_error("snapshot wants a configuration: -c FILE");
    }
    if (ask->kind == ASK_EXECUTE && ask->table_count == 0) {
        return usage_error("snapshot wants a table: schema.table");
    }
    if ((ask->kind == ASK_PAUSE || ask->kind == ASK_RESUME) && ask->table_count > 0) {
        return usage_error("--pause and --resume are of all tables");
    }
    if (ask->kind != ASK_EXECUTE && (ask->filter_count > 0 || ask->surrogate_key != NULL)) {
        return usage_error("--filter and --surrogate-key are of a snapshot that is begun");
    }
    return -1;
}

static int parse_snapshot(int argc, char **argv, struct snapshot_arguments *out)
{
    enum { OPTION_FILTER = OPTION_VERBOSE + 1, OPTION_KEY, OPTION_KIND };
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'},
        {"set", required_argument, NULL, OPTION_SET},
        {"filter", required_argument, NULL, OPTION_FILTER},
        {"surrogate-key", required_argument, NULL, OPTION_KEY},
        {"stop", no_argument, NULL, OPTION_KIND + ASK_STOP},
        {"pause", no_argument, NULL, OPTION_KIND + ASK_PAUSE},
        {"resume", no_argument, NULL, OPTION_KIND + ASK_RESUME},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option = 0;

    while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
        bool fits = true;
        if (option == 'c') {
            fits = add_source(out->sources, &out->source_count,
                              (struct config_source){.path = optarg});
        } else if (option == OPTION_SET || option == OPTION_FILTER) {
            if (strchr(optarg, '=') == NULL) {
                return usage_error("%s, not \"%s\"",
                                   option == OPTION_SET ? "--set wants KEY=VALUE"
                                                        : "--filter wants TABLE=SQL",
                                   optarg);
            }
            if (option == OPTION_SET) {
                fits = add_source(out->sources, &out->source_count,
                                  (struct config_source){.set = optarg});
            } else {
                fits = out->ask.filter_count < SOURCE_COUNT_MAX;
                if (fits) {
                    out->filters[out->ask.filter_count++] = optarg;
                }
            }
        } else if (option == OPTION_KEY) {
            out->ask.surrogate_key = optarg;
        } else if (option == 'h') {
            fputs(USAGE_SNAPSHOT, stdout);
            return EXIT_DONE;
        } else if (option > OPTION_KIND) {
            out->ask.kind = (enum ask_kind)(option - OPTION_KIND);
        } else { /* getopt has said what is wrong */
            return usage_error("see the options of `walrelay snapshot --help`");
        }
        if (!fits) {
            return usage_error("too many -c, --set and --filter");
        }
    }
    out->ask.tables = (const char *const *)(argv + optind);
    out->ask.table_count = (size_t)(argc - optind);
    out->ask.filters = out->filters;
    return check_snapshot(out);
}

static int snapshot(int argc, char **argv)
{
    struct snapshot_arguments arguments = {.source_count = 0};
    struct config *config = NULL;
    struct wr_buffer answer = {0};
    struct wr_error err = {0};
    int code = parse_snapshot(argc, argv, &arguments);

    if (code >= 0) {
        return code;
    }
    if (config_load(arguments.sources, arguments.source_count, false, report_problem, &config,
                    &err) != WR_OK) {
        report_problem(err.text);
        return EXIT_USAGE;
    }
    wr_buffer_init(&answer, ANSWER_SIZE_MAX);
    enum wr_status status = ask_relay(config, &arguments.ask, &answer, &err);
    if (status == WR_OK) {
        (void)fwrite(answer.data, 1, answer.size, stdout);
    } else {
        report_problem(err.text);
    }
    wr_buffer_done(&answer);
    config_free(config);
    return status == WR_OK ? EXIT_DONE : EXIT_FAILED;
}

static int print_config(int argc, char **argv)
{
    if (argc > 2) {
        return usage_error("\"%s\": config takes one key", argv[2]);
    }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs("walrelay config [KEY]\n\nPrints the reference of every property, or of one.\n",
              stdout);
        return EXIT_DONE;
    }
    if (!config_print_reference(argc == 2 ? argv[1] : NULL)) {
        return usage_error("\"%s\" is no property: `walrelay config` lists them", argv[1]);
    }
    return EXIT_DONE;
}

int main(int argc, char **argv)
{
    static const char *const later[] = {"check", "setup", "status"};

    if (argc < 2) {
        return usage_error("a command is missing");
    }
    if (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "sink") == 0) {
        return run(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "snapshot") == 0) {
        return snapshot(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "config") == 0) {
        return print_config(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(USAGE, stdout);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("walrelay " WR_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        if (strcmp(argv[1], later[i]) == 0) {
            return usage_error("the command %s is not available in this version", argv[1]);
        }
    }
    return usage_error("\"%s\" is no command", argv[1]);
}
