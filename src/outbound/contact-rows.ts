import { type Campaign, campaignRef } from './campaign.ts';
import type { CampaignContact, ContactRepository, ContactState } from '../records/campaigns.ts';
import type { Disposition } from '../records/dialling.ts';

/** Contacts read at once. */
const PAGE = 1000;

/** A campaign's contacts in order of addition, read on demand. */
export async function* contactsOf(
  contacts: Pick<ContactRepository, 'page'>,
  campaign: Campaign,
  filters: { readonly state?: ContactState | undefined; readonly disposition?: Disposition | undefined } = {},
): AsyncGenerator<CampaignContact> {
  for (let after: number | undefined; ;) {
    const page = await contacts.page(campaignRef(campaign), { ...filters, limit: PAGE, after });
    yield* page.contacts;
    if (page.next === undefined) return;
    after = page.next;
  }
}

export const CONTACT_COLUMNS = [
  'number',
  'zone',
  'state',
  'outcome',
  'cause',
  'calls',
  'nextCallAt',
  'callBackAt',
  'lastAttempt',
  'variables',
];

/** A contact as table cells; `variables` are JSON. */
export function contactCells(contact: CampaignContact): string[] {
  const { number, zone = '', state, disposition = '', cause = '', attempts, dueAtMs, callBackAtMs } = contact;
  return [
    number,
    zone,
    state,
    disposition,
    cause,
    String(attempts),
    state === 'done' ? '' : new Date(dueAtMs).toISOString(),
    callBackAtMs === undefined ? '' : new Date(callBackAtMs).toISOString(),
    contact.lastAttemptId ?? '',
    JSON.stringify(contact.variables),
  ];
}
