# What each process holds and burns 20 s after its start with nothing to relay.
BEGIN {
    print "**idle**\n"
    print "| | RSS, MB | CPU in 20 s, start included, s |"
    print "|---|---|---|"
}

$1 == "workload=idle" {
    for (i = 2; i <= NF; i++) {
        split($i, pair, "=")
        value[pair[1]] = pair[2]
    }
    printf "| %s | %s | %s |\n", value["contender"], value["rss_idle_mb"], value["cpu_idle_s"]
}

END {
    print ""
}
