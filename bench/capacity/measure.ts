// npm run bench -- capacity [--json] [--pairs 7] [--seconds 30] [--sizes 200,500] [--no-limit] [--no-peer] [--no-stalls] [--tls] [--rows FILE] [--carrier asterisk]
// What a call costs the gateway, beside a bare echo server and a peer in the same run, and how many of them a core carries.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeCertificate } from './certificate.ts';
import { compile } from './compiled.ts';
import { CapacityRun } from './capacity-run.ts';
import { installPeer, type Peer } from './peer.ts';
import { machine } from './processor.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    pairs: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '30' },
    sizes: { type: 'string', default: '200,500' },
    'no-limit': { type: 'boolean', default: false },
    'no-peer': { type: 'boolean', default: false },
    'no-stalls': { type: 'boolean', default: false },
    tls: { type: 'boolean', default: false },
    rows: { type: 'string' },
    carrier: { type: 'string', default: 'twilio' },
  },
});
const HERE = 'bench/capacity';
const sizes = values.sizes.split(',').map(Number);

function peerOfRun(): Peer {
  if (values.carrier !== 'twilio') return { missing: 'it speaks with Twilio alone' };
  if (values['no-peer']) return { missing: 'not wanted' };
  if (values.tls) return { missing: 'its upstream is not on TLS' };
  return installPeer();
}

const peer = peerOfRun();
if ('missing' in peer) console.error(`no peer: ${peer.missing}`);
const children = ['echo-child', 'gateway-child', 'peer-child'].map((name) => `${HERE}/${name}`);
const run = new CapacityRun({
  folder: join(compile(children, [`${HERE}/bots`]), HERE),
  pairs: Number(values.pairs),
  measureMs: Number(values.seconds) * 1000,
  peer: 'module' in peer ? peer.module : undefined,
  certificate: values.tls ? makeCertificate() : undefined,
});
const { carrier } = values;
if (carrier !== 'twilio' && carrier !== 'asterisk') throw new TypeError(`--carrier is twilio or asterisk, not ${carrier}`);
if (carrier !== 'twilio') {
  const compared = await run.compareCarriers(carrier, sizes);
  if (values.rows !== undefined)
    writeFileSync(values.rows, `${JSON.stringify({ machine: machine(), rows: run.rows }, null, 2)}\n`);
  console.log(JSON.stringify(compared, null, values.json ? 0 : 2));
  process.exit(0);
}
await run.compare(sizes);
await run.converse(sizes[0] ?? 200);
if (!values['no-stalls']) await run.stall();
const calls = values['no-limit'] ? null : await run.limit();
const document = run.document(calls);
if (values.rows !== undefined) writeFileSync(values.rows, `${JSON.stringify({ machine: machine(), rows: run.rows }, null, 2)}\n`);
console.log(values.json ? JSON.stringify(document) : JSON.stringify(document, null, 2));
process.exit(0);
