import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { NumberSet } from '../../../../src/outbound/contacts/number-set.ts';
import {
  ContactsFileError,
  type ContactRow,
  type ContactsOptions,
  readContacts,
} from '../../../../src/outbound/contacts/read-contacts.ts';

async function read(file: string | Uint8Array, options: Partial<ContactsOptions> = {}, pieces = 1): Promise<ContactRow[]> {
  const bytes = typeof file === 'string' ? Buffer.from(file) : file;
  async function* source(): AsyncGenerator<Uint8Array> {
    const size = Math.max(1, Math.ceil(bytes.length / pieces));
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }
  const rows: ContactRow[] = [];
  for await (const row of readContacts(source(), { tenantId: 'default', defaultRegion: 'IN', ...options })) rows.push(row);
  return rows;
}

/** One line of text for each row. */
async function told(...args: Parameters<typeof read>): Promise<string[]> {
  return (await read(...args)).map((row) => {
    if (row.kind === 'refused') return `${row.line} refused: ${row.reason}`;
    return row.kind === 'duplicate' ? `${row.line} same as ${row.firstLine}` : `${row.line} ${row.contact.number.e164}`;
  });
}

describe('readContacts', () => {
  it('makes a contact of each row, its other columns as variables of the bot', async () => {
    const file =
      'First Name,Phone,Time zone,Due-Date,नाम,\nAsha,98765 43210,Asia/Kolkata,"3 March,\n2026",आशा,x\nRavi,+12127365000,,,,\n';
    expect(await read(file)).toEqual([
      {
        kind: 'contact',
        line: 2,
        contact: {
          tenantId: 'default',
          number: { e164: '+919876543210', country: 'IN', lineType: 'mobile' },
          timeZone: 'Asia/Kolkata',
          variables: { first_name: 'Asha', due_date: '3 March,\n2026', नाम: 'आशा' },
        },
      },
      {
        kind: 'contact',
        line: 4,
        contact: {
          tenantId: 'default',
          number: { e164: '+12127365000', country: 'US', lineType: 'fixed-line-or-mobile' },
          timeZone: undefined,
          variables: { first_name: 'Ravi' },
        },
      },
    ]);
  });

  it('names every bad row with its line and reason, and goes on', async () => {
    const rows = [
      'phone,name,zone',
      '9876543210,Asha,',
      ',Nobody,',
      '12345,Short,',
      '9.87654E+09,Sheet,',
      '9876543211,Zone,Asia/Atlantis',
      '9876543212,Too,many,cells',
      '9876543213,"Quote,',
      '9876543214,Bell\u0007,',
      `9876543215,${'x'.repeat(2001)},`,
      "'+91 98765 43210,Again,",
      '9876543216,Ravi,Asia/Kolkata',
    ];
    expect(await told(rows.join('\r\n'))).toEqual([
      '2 +919876543210',
      '3 refused: the number is empty',
      '4 refused: no such number in the numbering plan of IN',
      '5 refused: a spreadsheet rounded the number: format the column as text and export it again',
      '6 refused: Asia/Atlantis is not a time zone such as Asia/Kolkata',
      '7 refused: has 4 cells where the header has 3',
      '8 refused: a quote is opened and never closed',
      '9 refused: column name has a control character',
      '10 refused: column name has more than 2000 characters',
      '11 same as 2',
      '12 +919876543216',
    ]);
  });

  it('names the rows whose bytes are not of the encoding, and reads the encodings that a file says', async () => {
    const latin = Buffer.from('phone,name\n9876543210,Zo\u00EB\n9876543211,Ravi\n', 'latin1');
    expect(await told(latin)).toEqual([
      '2 refused: column name has bytes that are not text in the encoding of the file: save it as CSV UTF-8',
      '3 +919876543211',
    ]);
    const [first] = await read(latin, { encoding: 'windows-1252' });
    expect(first).toMatchObject({ contact: { variables: { name: 'Zo\u00EB' } } });
    const wide = Buffer.from('\uFEFFphone\tname\r\n9876543210\tआशा\r\n', 'utf16le');
    for (const pieces of [1, wide.length]) {
      expect(await read(wide, {}, pieces)).toMatchObject([{ contact: { variables: { name: 'आशा' } } }]);
    }
    expect(await told(Buffer.from(wide).swap16())).toEqual(['2 +919876543210']);
    expect(await told('\uFEFFphone;name\n9876543210;x\n', {}, 100)).toEqual(['2 +919876543210']);
  });

  test.each([
    ['an empty file', '', /is empty/u],
    ['a header alone that is no text', 'phone\u0000,name\n', /not readable text/u],
    ['a workbook', Buffer.from([0x50, 0x4b, 3, 4, 20, 0]), /workbook/u],
    ['UTF-16 without a byte order mark', Buffer.from('phone,name\n9876543210,x\n', 'utf16le'), /not readable text/u],
    ['no column of numbers', 'name,city\nAsha,Pune\n', /phone, phone_number.*the file has name, city/u],
    ['two columns of one name', 'phone,Name,name\n', /two columns are called name/u],
    ['too many columns', `phone${',x'.repeat(100)}\n`, /101 columns/u],
    ['a header with a quote that is never closed', 'phone,"name\n9876543210,x\n', /the header, line 1/u],
    ['too many rows', 'phone\n1\n2\n3\n4\n', /more than 3 rows/u],
  ])('it says of %s what is wrong', async (_note, file, message) => {
    const attempt = read(file, { limits: { maxRows: 3 } });
    await expect(attempt).rejects.toThrow(message);
    await expect(attempt).rejects.toThrow(ContactsFileError);
  });

  it('says of a column that was named and is missing, and of a region that is none', async () => {
    await expect(read('phone\n', { numberColumn: 'Mobile' })).rejects.toThrow(/no column is called Mobile/u);
    await expect(read('phone\n', { zoneColumn: 'tz' })).rejects.toThrow(/no column is called tz/u);
    await expect(read('phone\n', { defaultRegion: 'India' })).rejects.toThrow(/India is not a region/u);
    expect(await told('phone,Alt No.\n,9876543210\n', { numberColumn: 'alt no' })).toEqual(['2 +919876543210']);
  });

  it('stops reading the file when the consumer stops', async () => {
    let given = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('phone\n');
      for (;;) {
        given += 1;
        yield Buffer.from(`98765${43_210 + given}\n`);
      }
    }
    for await (const row of readContacts(source(), { tenantId: 'default', defaultRegion: 'IN' })) {
      if (row.line > 10) break;
    }
    expect(given).toBeLessThan(20);
  });

  it('reads the same whatever the pieces', async () => {
    const file = '\uFEFFphone,name\r\n9876543210,"आ""शा\r\n,"\r\n12,x\r\n9876543210,y\r\n9876543211,"z\r\n';
    const whole = await read(file);
    for (const pieces of [2, 7, 1000]) expect(await read(file, {}, pieces)).toEqual(whole);
  });
});

describe('NumberSet', () => {
  it('remembers each number once, with its first line', () => {
    const number = fc.tuple(
      fc.integer({ min: 1, max: 9 }),
      fc.string({ unit: fc.constantFrom('0', '1', '9'), minLength: 1, maxLength: 14 }),
    );
    fc.assert(
      fc.property(fc.array(number, { maxLength: 3000 }), (numbers) => {
        const set = new NumberSet();
        const known = new Map<string, number>();
        for (const [line, [first, rest]] of numbers.entries()) {
          const e164 = `+${first}${rest}`;
          expect(set.add(e164, line)).toBe(known.get(e164));
          if (!known.has(e164)) known.set(e164, line);
        }
        expect(set.size).toBe(known.size);
      }),
    );
  });

  it('takes at most 48 bytes a number, and keeps its lines as it grows', () => {
    const set = new NumberSet();
    for (let index = 0; index < 100_000; index += 1) set.add(`+9198${10_000_000 + index * 7}`, index);
    expect(set.size).toBe(100_000);
    for (const index of [0, 1, 4711, 99_999]) expect(set.add(`+9198${10_000_000 + index * 7}`, 1)).toBe(index);
    expect(set.bytes).toBeLessThan(100_000 * 48);
  });

  it('refuses what is no number', () => {
    expect(() => new NumberSet().add('+0123', 1)).toThrow(RangeError);
  });
});
