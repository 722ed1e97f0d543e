create table t (id int primary key, code text not null, price numeric(8,2), secret text default 'x', placed timestamp, at timestamptz, j jsonb);
