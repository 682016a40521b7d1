import { describe, expect, it } from 'vitest';
import { importContacts, MOST_PROBLEMS } from '../../../../src/outbound/contacts/import-contacts.ts';
import { type Contact, type ContactRow, readContactList } from '../../../../src/outbound/contacts/read-contacts.ts';

const options = { tenantId: 'default', defaultRegion: 'IN' };

/** A campaign that remembers numbers. */
function campaign() {
  const numbers = new Set<string>();
  const batches: number[] = [];
  const add = async (contacts: readonly Contact[]): Promise<number> => {
    batches.push(contacts.length);
    const before = numbers.size;
    for (const { number } of contacts) numbers.add(number.e164);
    return numbers.size - before;
  };
  return { numbers, batches, add };
}

function* rows(count: number): Generator<ContactRow> {
  for (let index = 0; index < count; index += 1) {
    const number = { e164: `+9198${String(index).padStart(8, '0')}`, country: 'IN', lineType: 'mobile' as const };
    yield { kind: 'contact', line: index + 2, contact: { tenantId: 'default', number, timeZone: undefined, variables: {} } };
  }
}

describe('importContacts', () => {
  it('counts every row once and names each that made no contact', async () => {
    const list = [
      { number: '98765 43210', variables: { 'First name': ' Asha ', empty: '' } },
      { number: '12' },
      { number: '+919876543210' },
      { number: '+12127365000', timeZone: 'Mars/Olympus' },
      { number: '+12127365000', timeZone: 'America/New_York' },
      { number: '+12127365001', variables: { '!': 'x' } },
      { number: '+12127365001', variables: { note: 'a\u0000b' } },
    ];
    const { add, numbers } = campaign();
    expect(await importContacts(readContactList(list, options), add)).toMatchObject({
      rows: 7,
      added: 2,
      known: 0,
      duplicates: 1,
      refused: 4,
      problems: [
        {
          line: 2,
          reason: 'no such number in the numbering plan of IN',
          column: 'number',
          value: '12',
          accepted: 'a telephone number with + and country code, such as +919876543210, or one of IN without it',
        },
        { line: 3, reason: 'the number of line 1 again' },
        { line: 4, reason: 'Mars/Olympus is not a time zone such as Asia/Kolkata' },
        { line: 6, reason: 'has no name' },
        { line: 7, reason: 'note has a control character' },
      ],
    });
    expect([...numbers]).toEqual(['+919876543210', '+12127365000']);
    expect([...readContactList(list.slice(0, 1), options)]).toMatchObject([{ contact: { variables: { first_name: 'Asha' } } }]);
  });

  it('adds nothing when the same rows come again', async () => {
    const { add } = campaign();
    await importContacts(rows(3), add);
    expect(await importContacts(rows(4), add)).toMatchObject({ rows: 4, added: 1, known: 3 });
  });

  it('writes in batches, and names a thousand problems at most while it counts all', async () => {
    const { add, batches } = campaign();
    function* many(): Generator<ContactRow> {
      yield* rows(1201);
      for (let line = 2000; line < 3500; line += 1) yield { kind: 'refused', line, reason: 'the number is empty' };
    }
    const report = await importContacts(many(), add);
    expect(batches).toEqual([500, 500, 201]);
    expect(report).toMatchObject({ rows: 2701, added: 1201, refused: 1500 });
    expect(report.problems).toHaveLength(MOST_PROBLEMS);
  });
});
