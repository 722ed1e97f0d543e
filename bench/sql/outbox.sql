-- Workload B: a transactional outbox, payloads of about 300 bytes, ten rows a transaction.
create table outbox (
  id bigserial primary key,
  event_id uuid not null unique,
  aggregate_type text not null,
  aggregate_id text not null,
  type text not null,
  payload jsonb not null,
  created_at timestamptz not null default now(),
  published_at timestamptz
);
create index outbox_unpublished on outbox (id) where published_at is null;

create publication bench for table outbox;

create procedure load(row_count int) language plpgsql as $$
begin
  for i in 1 .. row_count loop
    insert into outbox (event_id, aggregate_type, aggregate_id, type, payload)
    values (gen_random_uuid(), 'order', 'ord-' || i % 100000, 'OrderPlaced',
            jsonb_build_object(
              'orderId', 'ord-' || i % 100000,
              'customer', jsonb_build_object('id', 'cus-' || i % 7919, 'name', 'Ada Lovelace',
                                             'email', 'ada' || i % 7919 || '@example.org'),
              'seats', jsonb_build_array('A' || i % 40, 'A' || i % 40 + 1, 'B' || i % 40),
              'total', to_char(20 + i % 9000 / 100.0, 'FM9990.00'),
              'currency', 'EUR',
              'note', 'Two seats on the aisle, please, and one close to the stage; '
                      'the tickets are collected at the counter before the show begins.'));
    if i % 10 = 0 then
      commit;
    end if;
  end loop;
end $$;
