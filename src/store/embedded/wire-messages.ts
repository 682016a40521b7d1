/** Builders for the few protocol messages that the embedded store says itself. */

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type, 0, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`, 'utf8');
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A simple query, as a client would send it. */
export function queryMessage(sql: string): Buffer {
  return message('Q', text(sql));
}

/** What a server says once a client may begin. Everyone who can open the socket is let in: its folder is private. */
export function welcome(sessionNumber: number): Buffer {
  const parameters = {
    server_version: '18.0',
    server_encoding: 'UTF8',
    client_encoding: 'UTF8',
    DateStyle: 'ISO, MDY',
    integer_datetimes: 'on',
    standard_conforming_strings: 'on',
    TimeZone: 'UTC',
  };
  return Buffer.concat([
    message('R', int32(0)),
    ...Object.entries(parameters).map(([name, value]) => message('S', text(name), text(value))),
    message('K', int32(sessionNumber), int32(0)),
    message('Z', Buffer.from('I')),
  ]);
}

/** The end of a session. @param sqlState five characters (PostgreSQL manual, appendix A) */
export function fatal(sqlState: string, reason: string): Buffer {
  return message('E', text('SFATAL'), text('VFATAL'), text(`C${sqlState}`), text(`M${reason}`), Buffer.from([0]));
}
