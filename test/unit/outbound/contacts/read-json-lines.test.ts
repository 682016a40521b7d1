import { describe, expect, it, test } from 'vitest';
import { type ContactColumn, ContactsFileError, type ContactsOptions } from '../../../../src/outbound/contacts/read-contacts.ts';
import { readContactsFile } from '../../../../src/outbound/contacts/read-json-lines.ts';

async function read(text: string, options: Partial<ContactsOptions> = {}, size = 7) {
  const bytes = Buffer.from(text);
  async function* source(): AsyncGenerator<Uint8Array> {
    for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
  }
  const told: unknown[] = [];
  for await (const row of readContactsFile(source(), { tenantId: 'default', defaultRegion: 'IN', ...options })) {
    if (row.kind === 'contact') told.push([row.line, row.contact.number.e164, row.contact.timeZone, row.contact.variables]);
    else
      told.push(
        row.kind === 'duplicate' ? [row.line, `line ${row.firstLine} again`] : [row.line, row.reason, row.column, row.value],
      );
  }
  return told;
}

describe('readContactsFile', () => {
  it('reads JSON Lines: members are columns, those of variables too, and bad lines are named', async () => {
    const file = [
      '{"phone": "98765 43210", "First name": "Asha", "amount": 120, "due": null}',
      '',
      '{"phone": "+12127365000", "timeZone": "America/New_York", "variables": {"name": "Ravi"}}',
      '{"phone": "12", "name": "Bad"}',
      'not json',
      '["+12127365001"]',
      '{"name": "Nobody"}',
      '{"phone": "+12127365000"}',
      '{"phone": "+12127365002", "timezone": "Mars/Olympus"}',
      '{"phone": "+12127365003", "list": [1, 2]}',
    ].join('\n');
    const expected = 'the line is not an object on a line of its own, such as {"phone": "+919876543210", "name": "Asha"}';
    expect(await read(`\uFEFF \n${file}`)).toEqual([
      [2, '+919876543210', undefined, { first_name: 'Asha', amount: '120' }],
      [4, '+12127365000', 'America/New_York', { name: 'Ravi' }],
      [5, 'no such number in the numbering plan of IN', 'phone', '12'],
      [6, expected, undefined, undefined],
      [7, expected, undefined, undefined],
      [8, 'the number is empty', 'phone', ''],
      [9, 'line 4 again'],
      [10, 'Mars/Olympus is not a time zone such as Asia/Kolkata', 'timezone', 'Mars/Olympus'],
      [11, 'column list is neither text nor number', 'list', '[1,2]'],
    ]);
  });

  it('reads CSV where the first sign is no brace', async () => {
    expect(await read('phone,name\n98765 43210,{Asha}\n')).toEqual([[2, '+919876543210', undefined, { name: '{Asha}' }]]);
  });

  it('refuses a line that is too long, and goes on', async () => {
    const file = `{"phone": "98765 43210"}\n{"note": "${'x'.repeat(90)}"}\n{"phone": "98765 43211"}`;
    expect((await read(file, { limits: { maxRowCharacters: 60 } })).map((row) => (row as unknown[]).slice(0, 2))).toEqual([
      [1, '+919876543210'],
      [2, 'the line is longer than 60 characters'],
      [3, '+919876543211'],
    ]);
  });

  test.each([
    { note: 'names no number', file: '{"name": "Asha"}', says: 'no member is called one of phone' },
    { note: 'has too many rows', file: '{"phone":"1"}\n'.repeat(3), says: 'more than 2 rows' },
    { note: 'is empty', file: ' \n', says: 'the file is empty' },
  ])('refuses a file that $note', async ({ file, says }) => {
    await expect(read(file, { limits: { maxRows: 2 } })).rejects.toThrow(ContactsFileError);
    await expect(read(file, { limits: { maxRows: 2 } })).rejects.toThrow(says);
  });

  it.each(['phone,Due date,note\n98765 43210,3 March,x\n', '{"phone": "98765 43210", "Due date": "3 March", "note": "x"}'])(
    'gives variables other names, leaves columns out, and tells what becomes of each: %s',
    async (file) => {
      let columns: readonly ContactColumn[] = [];
      const options = {
        variables: { 'due date': 'Appointment', note: '' },
        onColumns: (told: readonly ContactColumn[]) => (columns = told),
      };
      expect(await read(file, options)).toMatchObject([
        [expect.any(Number), '+919876543210', undefined, { appointment: '3 March' }],
      ]);
      expect(columns).toEqual([
        { column: 'phone', becomes: 'number' },
        { column: 'due_date', becomes: 'variable', variable: 'appointment' },
        { column: 'note', becomes: 'nothing' },
      ]);
    },
  );

  it('refuses two columns that become one variable, and a name for a column that is not there', async () => {
    await expect(read('phone,a,b\n', { variables: { a: 'b' } })).rejects.toThrow('two columns become the variable b');
    await expect(read('phone,a\n', { variables: { c: 'd' } })).rejects.toThrow('no column is called c');
  });
});
