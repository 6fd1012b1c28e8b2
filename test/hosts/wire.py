#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A slow and lossy network between network namespaces: wire.py DELAY_MS LOSS_PERCENT NAMESPACE...

Makes the device `wire` in each namespace and forwards the frames between them, as a switch whose cables have this delay, one way, and lose this share of the
frames. It does what tc's netem does, on kernels without netem too, and ends when it is killed. Prints a line when the devices are there."""
import collections
import ctypes
import fcntl
import os
import random
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0002, 0x1000, 0x40000000


def tap(namespace, libc):
    """The device of a namespace, as a file: a thread makes devices in the namespace that it is in."""
    with open("/run/netns/" + namespace) as place:
        if libc.setns(place.fileno(), CLONE_NEWNET):
            sys.exit("wire.py: setns: " + os.strerror(ctypes.get_errno()))
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", b"wire", IFF_TAP | IFF_NO_PI))
    return device


def main():
    delay, loss = float(sys.argv[1]) / 1e3, float(sys.argv[2]) / 100
    libc = ctypes.CDLL(None, use_errno=True)
    devices = [tap(name, libc) for name in sys.argv[3:]]
    print("ready", flush=True)
    chance = random.Random(1)
    where, queue = {}, collections.deque()  # the device behind an address; frames under way, in the order of their arrival
    while True:
        ready = select.select(devices, [], [], max(0, queue[0][0] - time.monotonic()) if queue else None)[0]
        for device in ready:
            frame = os.read(device, 65536)
            where[frame[6:12]] = device
            to = where.get(frame[0:6])
            for other in [to] if to is not None else devices:
                if other != device and chance.random() >= loss:
                    queue.append((time.monotonic() + delay, other, frame))
        while queue and queue[0][0] <= time.monotonic():
            _, other, frame = queue.popleft()
            try:
                os.write(other, frame)
            except OSError:  # the device is down
                pass


main()
