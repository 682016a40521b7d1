import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/kernel/clock.ts';
import { type CallerFrame, CarrierLine } from '../../src/sim/carrier-line.ts';
import type { CarrierWire, WireListener } from '../../src/sim/carrier-wire.ts';

const SCENARIOS = fileURLToPath(new URL('./sipp', import.meta.url));
const ANSWERED_WITHIN_MS = 20_000;
/** RFC 3551: mu-law; RFC 4733: keys. */
const [PCMU, KEYS] = [0, 101];
const HEAD_BYTES = 12;
const KEY_CODES = '0123456789*#ABCD';

export interface PhoneOptions {
  readonly number: string;
  readonly password: string;
  readonly sipPort: number;
  readonly sipp: string;
  readonly folder: string;
}

let runs = 0;

/** A SIP phone: sipp speaks SIP for it, and its sound goes over a socket of its own. */
export class SipPhone {
  readonly #options: PhoneOptions;

  constructor(options: PhoneOptions) {
    this.#options = options;
  }

  /** Calls a number of the exchange. Resolves when it is answered. */
  async call(extension: string, hangUpAfterMs = 120_000): Promise<RtpLine> {
    return this.#talk('call.xml', await freeUdpPort(), { extension, hang_up_ms: String(hangUpAfterMs) });
  }

  /** Registers and waits for a call, which it answers. */
  async answer(hangUpAfterMs = 120_000): Promise<{ readonly answered: Promise<RtpLine> }> {
    const port = await this.#register();
    const answered = this.#talk('answer.xml', port, { hang_up_ms: String(hangUpAfterMs) });
    // A test that fails before it waits for this has its own error to tell.
    answered.catch(() => undefined);
    return { answered };
  }

  /** Registers and waits for a call, which it refuses. @param how status and reason of SIP: `486 Busy Here` */
  async refuse(how: string): Promise<{ readonly refused: Promise<void> }> {
    const port = await this.#register();
    const child = this.#sipp('refuse.xml', port, { refusal: how });
    return { refused: new Promise((resolve) => child.once('exit', () => resolve())) };
  }

  async #talk(scenario: string, port: number, values: Readonly<Record<string, string>>): Promise<RtpLine> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const log = join(this.#options.folder, `sipp-${(runs += 1)}.log`);
    const child = this.#sipp(scenario, port, { ...values, rtp_port: String(socket.address().port) }, [
      '-trace_logs',
      '-log_file',
      log,
    ]);
    const until = Date.now() + ANSWERED_WITHIN_MS;
    while (child.exitCode === null && Date.now() < until) {
      const rtpPort = existsSync(log) ? /rtp (\d+)/u.exec(readFileSync(log, 'utf8'))?.[1] : undefined;
      if (rtpPort !== undefined) return new RtpLine(new RtpWire(socket, Number(rtpPort), child));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.kill();
    socket.close();
    throw new Error(`sipp's call was not answered (exit code ${child.exitCode})`);
  }

  /** @returns the port at which the phone is reached */
  async #register(): Promise<number> {
    const port = await freeUdpPort();
    const child = this.#sipp('register.xml', port, {});
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`sipp could not register the phone (exit code ${code})`);
    return port;
  }

  #sipp(scenario: string, port: number, values: Readonly<Record<string, string>>, more: readonly string[] = []): ChildProcess {
    const { number, password, sipPort, sipp, folder } = this.#options;
    // sipp puts no values of ours into the attributes of its scenarios.
    let text = readFileSync(join(SCENARIOS, scenario), 'utf8');
    for (const [name, value] of Object.entries({ ...values, phone: number })) text = text.replaceAll(`[${name}]`, value);
    const path = join(folder, `${(runs += 1)}-${scenario}`);
    writeFileSync(path, text);
    const where = [`127.0.0.1:${sipPort}`, '-sf', path, '-i', '127.0.0.1', '-p', String(port)];
    const how = ['-au', number, '-ap', password, '-m', '1', '-nostdin', '-timeout', '180s', '-timeout_error'];
    return spawn(sipp, [...where, ...how, ...more], { stdio: 'ignore', cwd: folder });
  }
}

export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(resolve));
  return port;
}

/** RTP of one call, which ends when sipp's part of it does. */
class RtpWire implements CarrierWire {
  readonly #socket: Socket;
  readonly #port: number;
  readonly #child: ChildProcess;
  #isOpen = true;

  constructor(socket: Socket, port: number, child: ChildProcess) {
    this.#socket = socket;
    this.#port = port;
    this.#child = child;
  }

  get open(): boolean {
    return this.#isOpen;
  }

  send(data: string | Uint8Array): void {
    if (this.#isOpen) this.#socket.send(data, this.#port, '127.0.0.1');
  }

  close(): void {
    this.destroy();
  }

  destroy(): void {
    this.#child.kill();
  }

  listen(listener: WireListener): void {
    this.#socket.on('message', (data) => listener.message(data, true));
    const over = (): void => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      this.#socket.close();
      listener.closed(1000);
    };
    this.#child.once('exit', over);
    if (this.#child.exitCode !== null) over();
  }
}

/** The phone's microphone and ear. Keys go as RFC 4733 has them. */
export class RtpLine extends CarrierLine {
  /** Keys that the other end pressed. */
  readonly keys: string[] = [];
  #keyTimestamp: number | undefined;
  #sequence = 1;
  #timestamp = 0;

  constructor(wire: CarrierWire) {
    super(
      wire,
      systemClock,
      { from: { encoding: 'mulaw', rateHz: 8_000 }, to: { encoding: 'mulaw', rateHz: 8_000 } },
      { lineNoise: 0 },
    );
    this.begin();
  }

  protected override sendAudio(payload: Uint8Array, { fromSample }: CallerFrame): void {
    this.#timestamp = fromSample;
    this.#packet(PCMU, payload, fromSample === 0);
  }

  protected override sendDigit(digit: string): void {
    const code = KEY_CODES.indexOf(digit);
    for (const [index, samples] of [160, 320, 480, 640, 800, 960, 960, 960].entries()) {
      const isEnd = index >= 5;
      this.#packet(KEYS, Uint8Array.from([code, isEnd ? 0x8a : 0x0a, samples >> 8, samples & 0xff]), index === 0);
    }
  }

  protected override received(packet: Buffer): void {
    if (packet.length <= HEAD_BYTES) return;
    const type = (packet[1] ?? 0) & 0x7f;
    if (type === PCMU) this.play(packet.subarray(HEAD_BYTES));
    // All packets of one key have the same timestamp.
    const timestamp = packet.readUInt32BE(4);
    if (type !== KEYS || timestamp === this.#keyTimestamp) return;
    this.#keyTimestamp = timestamp;
    this.keys.push(KEY_CODES[packet[HEAD_BYTES] ?? 0] ?? '');
  }

  #packet(type: number, payload: Uint8Array, isFirst: boolean): void {
    const head = Buffer.alloc(HEAD_BYTES);
    head[0] = 0x80;
    head[1] = type | (isFirst ? 0x80 : 0);
    head.writeUInt16BE((this.#sequence = (this.#sequence + 1) & 0xffff), 2);
    head.writeUInt32BE(this.#timestamp, 4);
    head.writeUInt32BE(0x0ff0_0c, 8);
    this.send(Buffer.concat([head, payload]));
  }
}
