import { z } from 'zod';
import type { ImportedList } from '../../../outbound/dial-lists.ts';
import { maskDigits } from '../../../records/privacy/mask-number.ts';
import { type Consent, EVIDENCE_KINDS, PURPOSES, type SuppressionEntry, type DecisionEntry } from '../../../records/dialling.ts';
import type { Principal } from '../system/api-keys.ts';
import { refuseNumberSearch } from '../calls/call-views.ts';
import { isoTime, numbersFor, optionalTime, textsFor, viewOf } from '../views.ts';
import { rowProblemView, viewOfProblem } from './campaign-views.ts';
import { ContactsFileError } from '../../../outbound/contacts/read-contacts.ts';
import { consentOf } from '../../../outbound/contacts/read-list.ts';
import { verifyChain } from '../../../outbound/gate/chain.ts';
import { OWN_LIST } from '../../../outbound/gate/facts.ts';
import { isRegion, readNumber } from '../../../outbound/number.ts';
import { readFileParts } from '../../../kernel/file-streams.ts';
import { parseHead } from '../../../kernel/hash-chain.ts';
import { RequestRefused } from '../../problem.ts';
import { about, type ApiApp, type ApiDeps, type DialListOrders } from '../api-app.ts';
import { UploadedFile } from '../calls/upload.ts';

const wallTime = z.iso.datetime();

export const suppressionView = z.object({
  /** Masked without the scope `numbers:read`; null once erased, while the entry stays in force. */
  number: z.string().nullable(),
  list: z.string(),
  addedAt: wallTime,
  /** When it ends; null: never. */
  until: wallTime.nullable(),
  /** `caller` for an opt-out in a call, else the author of the entry. */
  source: z.string(),
  callId: z.string().nullable(),
  note: z.string().nullable(),
});
export const consentView = z.object({
  /** Masked without the scope `numbers:read`, like numbers in the evidence; null once erased. */
  number: z.string().nullable(),
  id: z.string(),
  level: z.enum(['express', 'written']),
  purposes: z.array(z.enum(PURPOSES)).readonly(),
  givenAt: wallTime,
  expiresAt: wallTime.nullable(),
  withdrawnAt: wallTime.nullable(),
  evidence: z.string(),
  /** Null, like the next three, for consents of earlier versions, and once erased. */
  evidenceKind: z.enum(EVIDENCE_KINDS).nullable(),
  /** Where it was captured. */
  evidenceSource: z.string().nullable(),
  /** Author: a key's id, `console` and a user's name, or `cli` and an account. */
  writtenBy: z.string().nullable(),
  writtenAt: wallTime.nullable(),
  registeredId: z.string().nullable(),
});
/** Result of importing a file or one entry. */
export const importedView = z.object({
  added: z.int(),
  known: z.int(),
  refused: z.int(),
  /** The first 1,000 refused rows; lines count the header. */
  problems: z.array(rowProblemView).readonly(),
});

/** An import's result, as the client may see it. */
function shown(imported: ImportedList, principal: Principal): z.output<typeof importedView> {
  return { ...imported, problems: imported.problems.map((problem) => viewOfProblem(problem, principal)) };
}

function viewOfEntry(entry: SuppressionEntry, key: Principal): z.output<typeof suppressionView> {
  const { number, note, untilMs } = entry;
  const masked = textsFor(number === undefined ? [] : [number], key);
  return viewOf(suppressionView, entry, {
    number: number === undefined ? null : numbersFor(key)(number),
    until: optionalTime(untilMs),
    note: note === undefined ? null : masked(note),
  });
}

function viewOfConsent(consent: Consent & { readonly number: string | undefined }, key: Principal): z.output<typeof consentView> {
  const { number, evidence, evidenceSource } = consent;
  const masked = textsFor(number === undefined ? [] : [number], key);
  return viewOf(consentView, consent, {
    number: number === undefined ? null : numbersFor(key)(number),
    evidence: masked(evidence),
    evidenceSource: evidenceSource === undefined ? null : masked(evidenceSource),
  });
}

const moment = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);
const listName = z.string().min(1).max(64);
const file = z.strictObject({ file: z.instanceof(UploadedFile).meta({ type: 'string', contentMediaType: 'text/csv' }) });
const number = z.string().min(1).max(100);
const region = z.string().refine(isRegion, 'a region such as IN').optional();
/** Reason, for the audit log. */
const reason = z.string().trim().min(1).max(200).optional();
const pageQuery = z.strictObject({
  number: number.optional(),
  region,
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.string().max(500).optional(),
});
const fileQuery = z.strictObject({
  /** ISO 3166 code of numbers without `+`; the setting `dialling.defaultRegion` when absent. */
  region,
  /** Columns of a file. */
  numberColumn: z.string().min(1).max(100).optional(),
  encoding: z.enum(['utf-8', 'windows-1252']).optional(),
});

const verifiedView = z.object({
  ok: z.boolean(),
  entries: z.int(),
  faultCount: z.int(),
  /** The first 1,000: `changed`, `replaced`, `missing` (up to `toSequence`), `reordered`, `repeated`, `foreign`. */
  faults: z.array(z.object({ fault: z.string(), sequence: z.int(), toSequence: z.int().optional() })).readonly(),
  /** The end of the log, to be kept elsewhere; null when it is empty. */
  head: z.object({ sequence: z.int(), hash: z.string() }).nullable(),
});

/** A body of one entry, or a file of them. */
const oneOrFile = <One extends z.ZodObject>(one: One) =>
  z.union([one, file], {
    error(issue) {
      const issues = issue.code === 'invalid_union' ? issue.errors[0] : undefined;
      return issues === undefined ? undefined : z.prettifyError({ issues }).replace(/^✖ /u, '');
    },
  });

/** Do-not-call lists, consents, and the log of decisions. Each change is written to the audit log. */
export function dialListRoutes(app: ApiApp, deps: ApiDeps): void {
  if (deps.dialLists === undefined) return;
  const parts = partsOf(deps, deps.dialLists);
  suppressionRoutes(app, parts);
  consentRoutes(app, parts);
}

/** What these routes share. */
function partsOf({ store, clock }: ApiDeps, orders: DialListOrders) {
  const { lists } = orders;
  /** @throws RequestRefused */
  const e164 = (given: string, inRegion: string | undefined): string => {
    // An unescaped plus sign in an address arrives as a blank.
    const read = readNumber(given.replace(/^ /u, '+'), inRegion ?? orders.defaultRegion);
    if ('reason' in read) throw new RequestRefused(400, `number: ${read.reason}.`);
    return read.e164;
  };
  const changeOf = ({ id: by, tenantId }: Principal, why?: string) => ({
    by,
    tenantId,
    reason: why === undefined ? undefined : maskDigits(why),
  });
  const optionsOf = (query: z.output<typeof fileQuery>) => ({
    defaultRegion: query.region ?? orders.defaultRegion,
    numberColumn: query.numberColumn,
    ...(query.encoding && { encoding: query.encoding }),
  });
  const orRefused = <Value>(read: Promise<Value>): Promise<Value> =>
    read.catch((error: unknown) => {
      throw error instanceof ContactsFileError ? new RequestRefused(400, error.message) : error;
    });
  return { store, clock, orders, lists, e164, changeOf, optionsOf, orRefused };
}
type Parts = ReturnType<typeof partsOf>;

/** Numbers that must not be called. */
function suppressionRoutes(app: ApiApp, { store, lists, e164, changeOf, optionsOf, orRefused }: Parts): void {
  app.get(
    '/suppressions',
    about('dialling:read', 'Numbers that must not be called, the earliest first', {
      querystring: pageQuery.extend({ list: listName.optional() }),
      response: { 200: z.object({ suppressions: z.array(suppressionView), next: z.string().nullable() }) },
    }),
    async ({ principal, query }) => {
      refuseNumberSearch(principal, { number: query.number });
      const { list, limit, cursor: after } = query;
      const { tenantId } = principal;
      const found =
        query.number === undefined
          ? await store.suppressions.page(tenantId, { list, limit, after })
          : { entries: await store.suppressions.of(tenantId, e164(query.number, query.region)), next: undefined };
      const entries = found.entries.filter((entry) => list === undefined || entry.list === list);
      return { suppressions: entries.map((entry) => viewOfEntry(entry, principal)), next: found.next ?? null };
    },
  );
  app.get(
    '/suppressions/lists',
    about('dialling:read', 'When each list of others was obtained', {
      response: { 200: z.object({ lists: z.array(z.object({ list: z.string(), obtainedAt: wallTime })) }) },
    }),
    async ({ principal }) => {
      const obtained = Object.entries(await store.suppressions.lists(principal.tenantId));
      return { lists: obtained.map(([list, atMs]) => ({ list, obtainedAt: isoTime(atMs) })) };
    },
  );
  app.post(
    '/suppressions',
    about(
      { scope: 'dialling:write', takesUploads: 'contacts', stored: withoutProblems },
      'Put a number on a list, or those of a file: CSV, or a number a line, as the body or in a form',
      {
        querystring: fileQuery.extend({
          list: listName.default(OWN_LIST),
          /** When the file's list was obtained; required for external lists. */
          obtained: moment.optional(),
          until: moment.optional(),
        }),
        body: oneOrFile(z.strictObject({ number, note: z.string().min(1).max(500).optional() })),
        response: { 200: importedView },
      },
    ),
    async ({ principal, query, body }) => {
      const { list, obtained, until } = query;
      const untilMs = msOf(until);
      const change = changeOf(principal);
      if ('number' in body) {
        const entry = { number: e164(body.number, query.region), list, untilMs, note: body.note };
        return countsOf(await lists.suppress(change, entry));
      }
      if (list !== OWN_LIST && obtained === undefined)
        throw new RequestRefused(400, `obtained: say when the list ${list} was obtained; the gate asks how old it is.`);
      const named = { name: list, obtainedAtMs: msOf(obtained), untilMs };
      const source = readFileParts(body.file.path);
      return shown(await orRefused(lists.importSuppressions(change, named, source, optionsOf(query))), principal);
    },
  );
  app.delete(
    '/suppressions',
    about('dialling:write', 'Take a number off a list', {
      querystring: z.strictObject({ number, region, list: listName.default(OWN_LIST), reason }),
      response: { 200: z.object({ removed: z.boolean() }) },
    }),
    async ({ principal, query }) => {
      const given = e164(query.number, query.region);
      const removed = await lists.unsuppress(changeOf(principal, query.reason), query.list, given);
      if (!removed) throw new RequestRefused(404, `The number is not on the list ${query.list}.`);
      return { removed };
    },
  );
}

/** Consents, and the check of the log of decisions. */
function consentRoutes(app: ApiApp, { store, clock, lists, e164, changeOf, optionsOf, orRefused }: Parts): void {
  app.get(
    '/consents',
    about('dialling:read', 'Consents, the earliest first', {
      querystring: pageQuery,
      response: { 200: z.object({ consents: z.array(consentView), next: z.string().nullable() }) },
    }),
    async ({ principal, query: { limit, cursor: after, ...query } }) => {
      refuseNumberSearch(principal, { number: query.number });
      const { tenantId } = principal;
      const of = query.number === undefined ? undefined : e164(query.number, query.region);
      const page =
        of === undefined
          ? await store.consents.page(tenantId, { limit, after })
          : { consents: (await store.consents.of(tenantId, of)).map((each) => ({ ...each, number: of })), next: undefined };
      return { consents: page.consents.map((each) => viewOfConsent(each, principal)), next: page.next ?? null };
    },
  );
  app.post(
    '/consents',
    about(
      { scope: 'dialling:write', takesUploads: 'contacts', stored: withoutProblems },
      'Keep a consent with its evidence, or those of a CSV file',
      {
        querystring: fileQuery,
        body: oneOrFile(
          z.strictObject({
            number,
            level: z.enum(['express', 'written']),
            purposes: z.array(z.enum(PURPOSES)).min(1),
            givenAt: moment,
            expiresAt: moment.optional(),
            /** The proof: address or number of a form, a recording, a document. */
            evidence: z.string().min(1).max(2000),
            evidenceKind: z.enum(EVIDENCE_KINDS),
            /** Where it was captured: a web page, a campaign, a branch. */
            evidenceSource: z.string().min(1).max(200),
            /** Its id in a public register. */
            registeredId: z.string().min(1).max(200).optional(),
            /** Your own id; derived from the facts when absent. */
            id: z.string().min(1).max(100).optional(),
          }),
        ),
        response: { 200: importedView },
      },
    ),
    async ({ principal, query, body }) => {
      const change = changeOf(principal);
      if ('file' in body)
        return shown(await orRefused(lists.importConsents(change, readFileParts(body.file.path), optionsOf(query))), principal);
      const { number: written, givenAt, expiresAt, ...facts } = body;
      const consent = consentOf({ ...facts, givenAtMs: msOf(givenAt), expiresAtMs: msOf(expiresAt) }, clock.wallMs());
      if ('reason' in consent) throw new RequestRefused(400, consent.reason);
      return countsOf(await lists.consent(change, e164(written, query.region), consent));
    },
  );
  app.post(
    '/consents/withdraw',
    about('dialling:write', 'Withdraw a consent, or all of a number, from now on', {
      body: z.strictObject({ number, region, id: z.string().min(1).max(100).optional(), reason }),
      response: { 200: z.object({ withdrawn: z.array(z.string()).readonly() }) },
    }),
    async ({ principal, body }) => {
      const change = changeOf(principal, body.reason);
      const withdrawn = await lists.withdraw(change, e164(body.number, body.region), body.id);
      if (withdrawn.length === 0) throw new RequestRefused(404, 'There is no such consent.');
      return { withdrawn };
    },
  );
  app.get(
    '/dial-decisions/verify',
    about('dialling:read', 'Read the whole log of decisions, and name what was changed, removed, replaced or moved', {
      querystring: z.strictObject({
        /** `SEQUENCE:HASH`: the end of the log as kept elsewhere. */
        expect: z.string().max(100).optional(),
      }),
      response: { 200: verifiedView },
    }),
    async ({ principal: { tenantId }, query, signal }) => {
      const given = query.expect === undefined ? undefined : parseHead(query.expect);
      if (query.expect !== undefined && given === undefined)
        throw new RequestRefused(400, 'expect: the number of an entry and its hash, as SEQUENCE:HASH.');
      const head = await store.attempts.decisionHead(tenantId);
      const report = await verifyChain(whileAsked(store.attempts.decisions(tenantId), signal), tenantId, given, head);
      return { ...report, ok: report.faultCount === 0, head: report.head ?? null };
    },
  );
}

/** Stops with an error once the client has disconnected. */
async function* whileAsked(entries: AsyncIterable<DecisionEntry>, signal: AbortSignal): AsyncGenerator<DecisionEntry> {
  for await (const entry of entries) {
    signal.throwIfAborted();
    yield entry;
  }
}

/** Reasons of bad rows may quote the file. */
function withoutProblems(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null ? { ...answer, problems: [] } : answer;
}

function countsOf(isNew: boolean): z.output<typeof importedView> {
  return { added: isNew ? 1 : 0, known: isNew ? 0 : 1, refused: 0, problems: [] };
}

function msOf(text: string): number;
function msOf(text: string | undefined): number | undefined;
function msOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
