-- The order database of BoxOffice, and what a relay needs in it. Run by a superuser.
create table orders (
    id text primary key,
    customer text not null,
    seats text[] not null,
    total numeric(10, 2) not null,
    status text not null default 'PENDING',
    created_at timestamptz not null default now()
);

-- event_id is what consumers deduplicate on, aggregate_id becomes the Kafka key, aggregate_type
-- the topic: order -> order-events.
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

-- The least that a relay needs: it may replicate, and read the outbox for its first snapshot. The
-- publication has the default name; a role that is no superuser could not make it for all tables.
create role debezium with login replication password 'debezium';
grant select on outbox to debezium;
create publication dbz_publication for table outbox;
