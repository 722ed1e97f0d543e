#!/usr/bin/env python3
"""Reads the rows of a warehouse route and prints each as a line of JSON.

    python3 -m venv venv && venv/bin/pip install -r requirements.txt
    venv/bin/python -m grpc_tools.protoc -I ../../proto --python_out=. walrelay/v1/change.proto
    venv/bin/python consume.py --bootstrap 127.0.0.1:9092 shop.warehouse.events

A start for a consumer of your own: decode() and value_of() are what it needs.
"""
import argparse
import base64
import datetime
import json
import sys
from decimal import Decimal

from confluent_kafka import Consumer, KafkaException, TopicPartition, OFFSET_BEGINNING

from walrelay.v1 import change_pb2 as pb

KNOWN_VERSION = 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
EPOCH = datetime.datetime(1970, 1, 1)


class Unavailable:
    """An unchanged value that the server did not send: keep what you have."""

    def __repr__(self):
        return "unavailable"


UNAVAILABLE = Unavailable()


class NewerVersion(Exception):
    pass


def date_of(days):
    """A datetime.date, or text where Python has none."""
    if days in (INT32_MIN, INT32_MAX):
        return "infinity" if days > 0 else "-infinity"
    try:
        return EPOCH.date() + datetime.timedelta(days=days)
    except OverflowError:
        return f"{days} days since 1970-01-01"


def timestamp_of(us, timezone=None):
    if us in (INT64_MIN, INT64_MAX):
        return "infinity" if us > 0 else "-infinity"
    try:
        return (EPOCH + datetime.timedelta(microseconds=us)).replace(tzinfo=timezone)
    except OverflowError:
        return f"{us} microseconds since 1970-01-01"


def value_of(value):
    """What Python has for a walrelay.v1.Value: None, UNAVAILABLE, int, Decimal, float, …"""
    kind = value.WhichOneof("kind")
    if kind == "absence":
        return None if value.absence == pb.ABSENCE_NULL else UNAVAILABLE
    if kind == "decimal":
        return Decimal(value.decimal)
    if kind == "json":
        return json.loads(value.json, parse_float=Decimal)
    if kind == "date_days":
        return date_of(value.date_days)
    if kind == "timestamp_us":
        return timestamp_of(value.timestamp_us)
    if kind == "timestamptz_us":
        return timestamp_of(value.timestamptz_us, datetime.timezone.utc)
    if kind == "array":
        return [value_of(v) for v in value.array.values]
    if kind is None:
        raise ValueError("a value of a kind that this reader does not know")
    return getattr(value, kind)


def decode(payload):
    """A walrelay.v1.Change. NewerVersion: of a walrelay that this reader is too old for."""
    change = pb.Change.FromString(payload)
    if change.version > KNOWN_VERSION:
        raise NewerVersion(
            f"a record of version {change.version}; this reader knows {KNOWN_VERSION}"
        )
    return change


def row_of(columns):
    return {column.name: value_of(column.value) for column in columns}


def printable(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    return str(value)


def describe(change):
    return {
        "op": pb.Op.Name(change.op).removeprefix("OP_").lower(),
        "table": f"{change.schema}.{change.table}",
        "version": [change.lsn, change.seq],
        "key": row_of(change.key),
        "before": row_of(change.before),
        "after": row_of(change.after),
    }


def records(consumer, topics, until_end):
    """Every record from the beginning; with `until_end` up to what is there now."""
    ends = {}
    partitions = []
    for topic in topics:
        metadata = consumer.list_topics(topic, timeout=10).topics[topic]
        if metadata.error is not None:
            raise KafkaException(metadata.error)
        for number in metadata.partitions:
            partitions.append(TopicPartition(topic, number, OFFSET_BEGINNING))
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, number), timeout=10)
            if high > low:
                ends[topic, number] = high
    consumer.assign(partitions)
    while ends or not until_end:
        message = consumer.poll(1.0)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        yield message
        place = (message.topic(), message.partition())
        if message.offset() + 1 >= ends.get(place, message.offset() + 2):
            del ends[place]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bootstrap", default="127.0.0.1:9092")
    parser.add_argument("--until-end", action="store_true", help="stop at what is there now")
    parser.add_argument("topics", nargs="+")
    arguments = parser.parse_args()
    consumer = Consumer(
        {
            "bootstrap.servers": arguments.bootstrap,
            "group.id": "walrelay-example",
            "enable.auto.commit": False,
        }
    )
    try:
        for message in records(consumer, arguments.topics, arguments.until_end):
            change = decode(message.value())
            print(json.dumps(describe(change), default=printable, ensure_ascii=False))
    except NewerVersion as problem:
        sys.exit(f"consume.py: {problem}")
    finally:
        consumer.close()


if __name__ == "__main__":
    main()
