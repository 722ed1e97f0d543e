create table events (id bigint primary key, title text not null, venue text, starts_at timestamptz, price numeric(10,2), tags jsonb, poster text, sold boolean default false);
alter table events alter poster set storage external;
create table seats (show text, number int, row_label text, primary key (show, number));
create table watched (id int primary key, a int, b int);
alter table watched replica identity full;
create table moving (id int primary key, state text, body text);
alter table moving alter body set storage external;
alter table moving replica identity full;
insert into events values (1,'Before','Hall','2026-05-01 20:00:00+02',12.50,'{"genre":"rock","seats":[10,2.50]}',null), (2,'Quiet',null,null,'NaN',null,null);
