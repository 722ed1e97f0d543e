-- Workload A: the table of a catalog service, and its load: single-row inserts, ten a transaction.
create table events (
  id bigserial primary key,
  title text not null,
  venue text not null,
  starts_at timestamptz not null,
  price numeric(10,2) not null,
  capacity int not null,
  tags jsonb not null,
  updated_at timestamptz not null default now()
);

create publication bench for table events;

create procedure load(row_count int) language plpgsql as $$
begin
  for i in 1 .. row_count loop
    insert into events (title, venue, starts_at, price, capacity, tags)
    values ('Season opening concert number ' || i,
            'Hall ' || i % 50,
            timestamptz '2027-01-01 20:00+00' + (i % 525600) * interval '1 minute',
            20 + i % 9000 / 100.0,
            100 + i % 5000,
            jsonb_build_array('music', 'live', 'season-' || i % 12));
    if i % 10 = 0 then
      commit;
    end if;
  end loop;
end $$;
