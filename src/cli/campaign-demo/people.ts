import type { RefusalName } from '../../outbound/gate/facts.ts';
import type { Disposition } from '../../records/dialling.ts';

/** What a simulated person, or what answers for them, does when their phone rings. */
export type Reaction =
  | 'talks'
  | 'busy'
  | 'no-answer'
  | 'declines'
  /** A mailbox that takes the whole message. */
  | 'mailbox'
  | 'mailbox-full'
  | 'screened'
  | 'says-stop'
  | 'presses-stop'
  /** Asks to be called on Monday at five in the afternoon. */
  | 'calls-back'
  | 'wrong-number'
  | 'hangs-up-early'
  | 'fax'
  | 'silent'
  /** The carrier refuses the order. */
  | 'line-down'
  /** The carrier takes the order, and its answer is lost; then the person talks. */
  | 'answer-lost';

/** What has to come of somebody. */
export interface Expected {
  readonly outcome: Disposition;
  readonly refusal?: RefusalName | undefined;
  /** Orders that the carrier gets, refused ones included. */
  readonly orders: number;
}

export interface Person {
  readonly name: string;
  /** A number that is reserved for stories. */
  readonly number: string;
  readonly zone: string;
  /** Call by call; the last one repeats. */
  readonly reactions: readonly Reaction[];
  readonly consent: 'given' | 'none' | 'expired';
  /** On the tenant's own do-not-call list before the campaign. */
  readonly isSuppressed: boolean;
  readonly expected: Expected;
}

const ZONES = [
  { zone: 'America/New_York', area: '212' },
  { zone: 'America/Chicago', area: '312' },
  { zone: 'America/Los_Angeles', area: '213' },
] as const;

type Group = Partial<Pick<Person, 'consent' | 'isSuppressed'>> & {
  readonly count: number;
  readonly reactions: readonly Reaction[];
  readonly expected: Expected;
  /** In place of an area of one of the zones. */
  readonly area?: string;
};

const refused = (refusal: RefusalName): Pick<Group, 'reactions' | 'expected'> => ({
  reactions: ['talks'],
  expected: { outcome: 'refused', refusal, orders: 0 },
});
const comesTo = (outcome: Disposition, orders: number, ...reactions: Reaction[]): Pick<Group, 'reactions' | 'expected'> => ({
  reactions,
  expected: { outcome, orders },
});

/** Who is called. Calls follow the attempts of a campaign whose settings leave them as they are. */
const GROUPS: readonly Group[] = [
  { count: 33, ...comesTo('completed', 1, 'talks') },
  { count: 7, ...comesTo('completed', 2, 'busy', 'talks') },
  { count: 3, ...comesTo('busy', 3, 'busy') },
  { count: 7, ...comesTo('completed', 2, 'no-answer', 'talks') },
  { count: 5, ...comesTo('no-answer', 3, 'no-answer') },
  { count: 7, ...comesTo('message-left', 1, 'mailbox') },
  { count: 2, ...comesTo('completed', 2, 'mailbox-full', 'talks') },
  { count: 4, ...comesTo('completed', 2, 'screened', 'talks') },
  { count: 2, ...comesTo('screening', 2, 'screened') },
  { count: 5, ...comesTo('opt-out', 1, 'says-stop') },
  { count: 2, ...comesTo('opt-out', 1, 'presses-stop') },
  { count: 4, ...comesTo('completed', 2, 'calls-back', 'talks') },
  { count: 3, ...comesTo('wrong-number', 1, 'wrong-number') },
  { count: 2, ...comesTo('rejected', 1, 'declines') },
  { count: 1, ...comesTo('completed', 2, 'hangs-up-early', 'talks') },
  { count: 1, ...comesTo('fax', 1, 'fax') },
  { count: 1, ...comesTo('completed', 2, 'silent', 'talks') },
  { count: 1, ...comesTo('completed', 2, 'line-down', 'talks') },
  { count: 1, ...comesTo('completed', 1, 'answer-lost') },
  { count: 4, ...refused('suppressed'), isSuppressed: true },
  { count: 2, ...refused('no-consent'), consent: 'none' },
  { count: 1, ...refused('consent-expired'), consent: 'expired' },
  // In Canada, which the profile has no rules for, and a number at which the called party pays.
  { count: 1, ...refused('number-invalid'), area: '416' },
  { count: 1, ...refused('line-type'), area: '800' },
];

/** A hundred people in three time zones, in an order that mixes them. */
export const PEOPLE: readonly Person[] = GROUPS.flatMap((group) => Array.from({ length: group.count }, () => group))
  .map((group, index) => ({ group, place: (index * 37) % 100 }))
  .sort((one, other) => one.place - other.place)
  .map(({ group: { area, reactions, expected, consent = 'given', isSuppressed = false } }, index): Person => {
    const home = ZONES[index % ZONES.length] ?? ZONES[0];
    const number = `+1${area ?? home.area}55501${String(index).padStart(2, '0')}`;
    return { name: `Person ${index + 1}`, number, zone: home.zone, reactions, consent, isSuppressed, expected };
  });

/** Rows of the file that make no contact, and rows that say a number again. */
export const BAD_ROWS = 4;
export const DUPLICATE_ROWS = 3;

/** The file of contacts as an operator would have it. */
export function contactsFile(people: readonly Person[]): string {
  const rows = people.map(({ name, number, zone }) => `${number},${name},2026-03-20,${zone}`);
  const bad = [
    '12345,Too short,,',
    ',No number,,',
    '1.21256E+10,From a spreadsheet,,',
    '+12125550177,No such zone,,Mars/Olympus',
  ];
  const again = people.slice(0, DUPLICATE_ROWS).map(({ number }) => `${number},Again,2026-03-20,`);
  return ['phone,name,due date,time zone', ...rows, ...bad, ...again, ''].join('\n');
}
