import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireTool } from '../support/requires.ts';
import { freeUdpPort, SipPhone } from './sip-phone.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/asterisk/etc', import.meta.url));
const READY_WITHIN_MS = 60_000;

/** The programs that these tests need: an Asterisk at `OFFHOOK_ASTERISK`, and sipp. Undefined where one is missing, which is said in one line. */
export function exchangeTools(): { readonly asterisk: string; readonly sipp: string } | undefined {
  const asterisk = process.env.OFFHOOK_ASTERISK;
  if (asterisk === undefined || asterisk === '') {
    process.stdout.write('skipped: OFFHOOK_ASTERISK names no Asterisk (22.8 or newer)\n');
    return undefined;
  }
  if (!existsSync(asterisk)) throw new Error(`OFFHOOK_ASTERISK is ${asterisk}, where nothing is`);
  const sipp = requireTool('sipp');
  return sipp === undefined ? undefined : { asterisk, sipp };
}

export interface ExchangeOptions {
  readonly asterisk: string;
  readonly sipp: string;
  readonly gatewayUrl: string;
  readonly audiosocketPort: number;
  /** Of ARI, chosen before, so that the gateway could be told. */
  readonly ariPort: number;
  readonly password: string;
  readonly ariPassword: string;
}

/**
 * A real Asterisk with the configuration of examples/asterisk, of which nothing but addresses, ports and passwords is changed. Beside it the phones may dial
 * 900 and 901, which are 100 and 101 with Asterisk's own recording.
 */
export class Exchange implements AsyncDisposable {
  readonly folder: string;
  readonly sipPort: number;
  readonly #child: ChildProcess;
  readonly #sipp: string;

  private constructor(child: ChildProcess, folder: string, sipPort: number, sipp: string) {
    this.#child = child;
    this.folder = folder;
    this.sipPort = sipPort;
    this.#sipp = sipp;
  }

  static async start(options: ExchangeOptions): Promise<Exchange> {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-asterisk-'));
    const [sipPort, rtpPort] = [await freeUdpPort(), 20_000 + 2 * Math.floor(Math.random() * 10_000)];
    for (const name of ['etc', 'run', 'log', 'spool', 'db', 'db/keys']) mkdirSync(join(folder, name));
    cpSync(EXAMPLE, join(folder, 'etc'), { recursive: true });
    const { gatewayUrl, audiosocketPort, ariPort, password, ariPassword } = options;
    const gateway = new URL(gatewayUrl);
    const changes: readonly [file: string, from: string, to: string][] = [
      ['pjsip.conf', '0.0.0.0:5060', `127.0.0.1:${sipPort}`],
      ['http.conf', '8088', String(ariPort)],
      ['rtp.conf', '10000', String(rtpPort)],
      ['rtp.conf', '10099', String(rtpPort + 99)],
      ['ari.conf', 'change-ari', ariPassword],
      ['websocket_client.conf', 'offhook:8080', gateway.host],
      ['websocket_client.conf', 'change-offhook', password],
      ['extensions.conf', 'offhook:8080', gateway.host],
      ['extensions.conf', 'change-offhook', password],
      ['extensions.conf', 'offhook:9092', `127.0.0.1:${audiosocketPort}`],
    ];
    for (const [file, from, to] of changes) {
      const path = join(folder, 'etc', file);
      const text = readFileSync(path, 'utf8');
      if (!text.includes(from)) throw new Error(`${file} of the example has no ${from}`);
      writeFileSync(path, text.replace(from, to));
    }
    const recorded = (number: string, as: string): string =>
      `exten => ${number},1,Answer()\n same => n,MixMonitor(${folder}/${number}-mixed.wav,r(${folder}/${number}-from-phone.wav)t(${folder}/${number}-to-phone.wav)S)\n same => n,Goto(phones,${as},1)\n`;
    const extensions = join(folder, 'etc/extensions.conf');
    const own = `\n[phones](+)\n${recorded('900', '100')}${recorded('901', '101')}`;
    writeFileSync(extensions, readFileSync(extensions, 'utf8') + own);
    writeFileSync(join(folder, 'etc/asterisk.conf'), asteriskConf(folder));
    // As Debian has it; the modules left out want hardware or servers.
    writeFileSync(
      join(folder, 'etc/modules.conf'),
      `[modules]\nautoload = yes\n${LEFT_OUT.map((name) => `noload = ${name}.so\n`).join('')}`,
    );
    writeFileSync(join(folder, 'etc/logger.conf'), '[logfiles]\nfull => notice,warning,error,verbose\n');
    for (const name of MISSING) writeFileSync(join(folder, `etc/${name}.conf`), '');
    const child = spawn(options.asterisk, ['-f', '-C', join(folder, 'etc/asterisk.conf')], { stdio: 'ignore' });
    const exchange = new Exchange(child, folder, sipPort, options.sipp);
    try {
      await exchange.#ready(ariPort, ariPassword);
      return exchange;
    } catch (error) {
      await exchange[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What Asterisk logged: its dialplan step by step, and what went wrong. */
  get log(): string {
    const path = join(this.folder, 'log/full');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  /** A phone of the example, `6001` or `6002`. */
  phone(number: '6001' | '6002'): SipPhone {
    return new SipPhone({ number, password: `change-${number}`, sipPort: this.sipPort, sipp: this.#sipp, folder: this.folder });
  }

  async #ready(ariPort: number, ariPassword: string): Promise<void> {
    const authorization = `Basic ${Buffer.from(`offhook:${ariPassword}`).toString('base64')}`;
    const until = Date.now() + READY_WITHIN_MS;
    while (this.#child.exitCode === null && Date.now() < until) {
      const answer = await fetch(`http://127.0.0.1:${ariPort}/ari/asterisk/ping`, { headers: { authorization } }).catch(
        () => undefined,
      );
      if (answer?.ok === true && this.log.includes('Asterisk Ready')) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`Asterisk did not start (exit code ${this.#child.exitCode}): ${this.log.slice(-2_000)}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
      await gone;
      clearTimeout(timer);
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const LEFT_OUT = [
  'chan_console',
  'app_jack',
  'chan_iax2',
  'chan_unistim',
  'chan_motif',
  'pbx_dundi',
  'res_snmp',
  'res_hep',
  'res_xmpp',
];
/** Files without which modules complain; empty ones are enough. */
const MISSING = ['cdr', 'cel', 'features', 'acl', 'udptl', 'pjproject', 'chan_websocket', 'ccss', 'indications', 'stasis'];

function asteriskConf(folder: string): string {
  const folders = { astetcdir: 'etc', astrundir: 'run', astlogdir: 'log', astspooldir: 'spool', astdbdir: 'db', astkeydir: 'db' };
  const lines = Object.entries(folders).map(([name, below]) => `${name} => ${folder}/${below}`);
  return `[directories]\n${lines.join('\n')}\n[options]\nverbose = 3\nnocolor = yes\n`;
}
