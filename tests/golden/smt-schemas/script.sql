insert into t values (1,'A-1',12.5,'s','2026-01-02 03:04:05.006789','2026-01-02 03:04:05+00','{}'),(2,'B',null,null,null,null,null);
