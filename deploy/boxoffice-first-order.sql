-- Placed before the relay has ever run: its first snapshot publishes it.
begin;
insert into orders (id, customer, seats, total) values ('ord-1', 'ana', '{A1,A2}', 120.00);
insert into outbox (event_id, aggregate_type, aggregate_id, type, payload) values
    ('11111111-1111-4111-8111-111111111111', 'order', 'ord-1', 'OrderPlaced',
     '{"orderId": "ord-1", "customer": "ana", "seats": ["A1", "A2"], "total": "120.00"}');
commit;
