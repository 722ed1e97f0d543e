# Insert to consumer, one line for each contender and rate, with the ratio to Debezium's.
$1 == "workload=latency" {
    for (i = 2; i <= NF; i++) {
        split($i, pair, "=")
        value[pair[1]] = pair[2]
    }
    key = value["contender"] SUBSEP value["rate"]
    keys[++count] = key
    for (name in value) {
        all[key, name] = value[name]
    }
}

function share(key, field,    parts, other) {
    split(key, parts, SUBSEP)
    other = "debezium" SUBSEP parts[2]
    if (!((other, field) in all) || all[key, field] + 0 == 0) {
        return "–"
    }
    return sprintf("%.1f", all[other, field] / all[key, field])
}

END {
    print "**latency, insert to consumer**\n"
    print "| | inserts/s | p50, ms | × less than Debezium | p90 | p99 | × less than Debezium | p99.9 | max |"
    print "|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= count; i++) {
        key = keys[i]
        printf "| %s | %d of %d | %s | %s | %s | %s | %s | %s | %s |\n", all[key, "contender"],
            all[key, "achieved"], all[key, "rate"], all[key, "p50_ms"], share(key, "p50_ms"),
            all[key, "p90_ms"], all[key, "p99_ms"], share(key, "p99_ms"), all[key, "p999_ms"],
            all[key, "max_ms"]
    }
    print ""
}
