-- A few purchases: the order and its event are one transaction, so there is never one without the
-- other.
begin;
insert into orders (id, customer, seats, total) values ('ord-2', 'bo', '{B7}', 60.00);
insert into outbox (event_id, aggregate_type, aggregate_id, type, payload) values
    ('22222222-2222-4222-8222-222222222222', 'order', 'ord-2', 'OrderPlaced',
     '{"orderId": "ord-2", "customer": "bo", "seats": ["B7"], "total": "60.00"}');
commit;

-- This one fails at the last moment. Nobody will ever hear of it.
begin;
insert into orders (id, customer, seats, total) values ('ord-3', 'cy', '{B7}', 60.00);
insert into outbox (event_id, aggregate_type, aggregate_id, type, payload) values
    ('33333333-3333-4333-8333-333333333333', 'order', 'ord-3', 'OrderPlaced',
     '{"orderId": "ord-3", "customer": "cy", "seats": ["B7"], "total": "60.00"}');
rollback;

begin;
update orders set status = 'CONFIRMED' where id = 'ord-1';
insert into outbox (event_id, aggregate_type, aggregate_id, type, payload) values
    ('44444444-4444-4444-8444-444444444444', 'order', 'ord-1', 'OrderConfirmed',
     '{"orderId": "ord-1"}');
commit;
