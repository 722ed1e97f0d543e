# Reads "workload=… contender=… rows_s=…" lines; prints one workload's medians as Markdown.
BEGIN {
    names["discard"] = "a reader that discards"
    names["produce"] = "a bare producer"
    names["walrelay"] = "walrelay"
    names["exactly_once"] = "walrelay, exactly once"
    names["debezium"] = "Debezium in Kafka Connect"
}

function median(contender, field,    list, count, i, j, swap) {
    count = split(values[contender, field], list, " ")
    for (i = 1; i <= count; i++) {
        for (j = i + 1; j <= count; j++) {
            if (list[j] + 0 < list[i] + 0) {
                swap = list[i]
                list[i] = list[j]
                list[j] = swap
            }
        }
    }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}

function ratio(contender, other, field) {
    if (!(other in seen) || median(other, field) + 0 == 0) {
        return "–"
    }
    return sprintf("%.2f", median(contender, field) / median(other, field))
}

$1 == "workload=" workload {
    contender = substr($2, index($2, "=") + 1)
    if (!(contender in seen)) {
        seen[contender] = 1
        order[++count] = contender
    }
    for (i = 3; i <= NF; i++) {
        split($i, pair, "=")
        values[contender, pair[1]] = values[contender, pair[1]] " " pair[2]
    }
}

END {
    printf "**%s**\n\n", workload
    ceiling = workload == "snapshot" ? "produce" : "discard"
    printf "| | rows/s | × Debezium | × %s | CPU a row, µs | × less than Debezium ",
        workload == "snapshot" ? "bare producer" : "discarding"
    print "| peak RSS, MB | start to first event, ms |"
    print "|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= count; i++) {
        contender = order[i]
        printf "| %s | %d | %s | %s | %.2f | %s | %.1f | %d |\n", names[contender],
            median(contender, "rows_s"), ratio(contender, "debezium", "rows_s"),
            ratio(contender, ceiling, "rows_s"), median(contender, "cpu_us_row"),
            ("debezium" in seen) ? ratio("debezium", contender, "cpu_us_row") : "–",
            median(contender, "rss_peak_mb"), median(contender, "first_ms")
    }
    print ""
}
