// What a media socket costs that is passed on to another machine: `npx tsx bench/scale/relay-cost.ts [--sockets 200] [--seconds 10]`. A process of its own
// pipes TCP sockets both ways; this one sends and receives what a carrier and a gateway do. No TLS.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { about } from '../document.ts';

/** 20 ms of mu-law in JSON from the carrier, 100 ms to it: see `load.ts`. */
const FROM_CARRIER = { bytes: 380, everyMs: 20 };
const TO_CARRIER = { bytes: 1_160, everyMs: 100 };
const TICKS_A_SECOND = 1000 / FROM_CARRIER.everyMs;

if (process.send === undefined) await measure();
else relay();

function relay(): void {
  const server = createServer((socket) => {
    const onward = createConnection(Number(process.argv[2]), '127.0.0.1');
    for (const each of [socket, onward]) {
      each.setNoDelay(true);
      each.on('error', () => socket.destroy());
    }
    socket.pipe(onward).pipe(socket);
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  process.on('message', () => process.send?.({ cpuUs: process.cpuUsage().user + process.cpuUsage().system }));
}

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: { sockets: { type: 'string', default: '200' }, seconds: { type: 'string', default: '10' } },
  });
  const [count, seconds] = [Number(values.sockets), Number(values.seconds)];
  const ends: Socket[] = [];
  const far = createServer((socket) => {
    ends.push(socket);
    socket.resume().setNoDelay(true);
  }).listen(0, '127.0.0.1');
  await once(far, 'listening');
  const child = fork(fileURLToPath(import.meta.url), [String((far.address() as AddressInfo).port)]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const near = Array.from({ length: count }, () => createConnection(port, '127.0.0.1').resume().setNoDelay(true));
  await Promise.all(near.map((socket) => once(socket, 'connect')));
  const cpuUs = async (): Promise<number> => {
    child.send('cpu');
    const [reply] = (await once(child, 'message')) as [{ cpuUs: number }];
    return reply.cpuUs;
  };
  const inward = Buffer.alloc(FROM_CARRIER.bytes);
  const outward = Buffer.alloc(TO_CARRIER.bytes);
  let sent = 0;
  // Each tick has its fiftieth of the sockets' times: they are not in step.
  const steps = FROM_CARRIER.everyMs;
  const timer = setInterval(() => {
    const step = sent % steps;
    for (let index = step; index < near.length; index += steps) {
      near[index]?.write(inward);
      if (Math.floor(sent / steps) % (TO_CARRIER.everyMs / FROM_CARRIER.everyMs) === index % 5) ends[index]?.write(outward);
    }
    sent += 1;
  }, 1);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const [before, sentBefore] = [await cpuUs(), sent];
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const rounds = (sent - sentBefore) / steps;
  const perSocketSecond = Math.round(((await cpuUs()) - before) / count / (rounds / TICKS_A_SECOND));
  clearInterval(timer);
  process.stdout.write(
    `${JSON.stringify({ ...about(), sockets: count, rounds: Math.round(rounds), perSocketSecondUs: perSocketSecond })}\n`,
  );
  child.kill();
  process.exit();
}
