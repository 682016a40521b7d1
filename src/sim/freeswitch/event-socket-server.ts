import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** What FreeSWITCH does with a command. @returns what it prints; undefined where the connection is to be lost */
export type RunCommand = (command: string) => Promise<string | undefined>;

interface Client {
  readonly socket: Socket;
  readonly filters: Set<string>;
  isIn: boolean;
  hasEvents: boolean;
}

/** FreeSWITCH's mod_event_socket on a free loopback port: `auth`, `api`, `bgapi`, `event plain`, `filter`. */
export class SimulatedEventSocket implements AsyncDisposable {
  /** Commands as they came, without passwords. */
  readonly commands: string[] = [];
  readonly #server: Server;
  readonly #password: string;
  readonly #run: RunCommand;
  readonly #clients = new Set<Client>();

  private constructor(server: Server, password: string, run: RunCommand) {
    this.#server = server;
    this.#password = password;
    this.#run = run;
    server.on('connection', (socket) => this.#serve(socket));
  }

  static async start(password: string, run: RunCommand): Promise<SimulatedEventSocket> {
    const server = createServer();
    const simulated = new SimulatedEventSocket(server, password, run);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return simulated;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Tells every client that asked for events, and has a filter that this one passes or none. */
  emit(fields: Readonly<Record<string, string>>, body = ''): void {
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${encodeURIComponent(value)}`);
    const text = `${lines.join('\n')}\n${body === '' ? '' : `Content-Length: ${Buffer.byteLength(body)}\n`}\n${body}`;
    for (const { socket, filters, hasEvents } of this.#clients) {
      const passes = filters.size === 0 || Object.entries(fields).some(([name, value]) => filters.has(`${name} ${value}`));
      if (hasEvents && passes)
        socket.write(`Content-Length: ${Buffer.byteLength(text)}\nContent-Type: text/event-plain\n\n${text}`);
    }
  }

  /** Every connection is lost. */
  dropAll(): void {
    for (const { socket } of this.#clients) socket.destroy();
  }

  #serve(socket: Socket): void {
    const client: Client = { socket, filters: new Set(), isIn: false, hasEvents: false };
    this.#clients.add(client);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#clients.delete(client));
    socket.write('Content-Type: auth/request\n\n');
    let buffer = '';
    let turn: Promise<void> = Promise.resolve();
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      buffer += chunk;
      for (let end = buffer.indexOf('\n\n'); end !== -1; end = buffer.indexOf('\n\n')) {
        const command = buffer.slice(0, end);
        buffer = buffer.slice(end + 2);
        turn = turn.then(() => this.#take(client, command)).catch(() => void socket.destroy());
      }
    });
  }

  async #take(client: Client, text: string): Promise<void> {
    const [command = '', ...more] = text.split('\n');
    const [verb = '', ...words] = command.split(' ');
    const reply = (said: string): void => void client.socket.write(`Content-Type: command/reply\nReply-Text: ${said}\n\n`);
    if (verb === 'auth') {
      client.isIn = words.join(' ') === this.#password;
      reply(client.isIn ? '+OK accepted' : '-ERR invalid');
      if (!client.isIn) client.socket.end();
      return;
    }
    if (!client.isIn) return reply('-ERR command not found');
    this.commands.push(command);
    const rest = words.join(' ');
    switch (verb) {
      case 'event':
        client.hasEvents = true;
        return reply('+OK event listener enabled plain');
      case 'filter': {
        if (words[0] === 'delete') client.filters.delete(words.slice(1).join(' '));
        else client.filters.add(rest);
        return reply('+OK filter added.');
      }
      case 'api': {
        const printed = await this.#run(rest);
        if (printed === undefined) return void client.socket.destroy();
        client.socket.write(`Content-Type: api/response\nContent-Length: ${Buffer.byteLength(printed)}\n\n${printed}`);
        return;
      }
      case 'bgapi': {
        const jobId = /^Job-UUID: (\S+)$/u.exec(more[0] ?? '')?.[1] ?? 'job';
        const printed = await this.#run(rest);
        if (printed === undefined) return void client.socket.destroy();
        reply(`+OK Job-UUID: ${jobId}`);
        if (printed.startsWith('-')) this.emit({ 'Event-Name': 'BACKGROUND_JOB', 'Job-UUID': jobId }, printed);
        return;
      }
      default:
        reply('-ERR command not found');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.dropAll();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
