import { stringify } from 'csv-stringify/sync';
import type { RecordingAnalysis } from './document.ts';
import { utterancesOf } from './transcript.ts';

/** Something a row can be made of: a recording's or a call's document. */
export type TableDocument = Pick<RecordingAnalysis, 'durations' | 'talkRatio' | 'channels'> &
  Partial<
    Pick<
      RecordingAnalysis,
      'recording' | 'measures' | 'insights' | 'fields' | 'missing' | 'quality' | 'disposition' | 'languages' | 'speakers'
    >
  >;

const FIRST = ['recording', 'recorded_at', 'total_s', 'talk_ratio', 'speech_s', 'overlap_s', 'silence_s', 'interruptions'];
const THEN = ['language', 'intent', 'sentiment', 'summary', 'key_terms', 'disposition', 'score', 'missing'];

/** The columns of a table of results: the same for all documents of one profile and list. */
export function tableColumns(fields: readonly string[], metadata: readonly string[]): string[] {
  return [...FIRST, ...THEN, ...fields.map((name) => `field_${name}`), 'transcript', ...metadata.map((name) => `meta_${name}`)];
}

/** One document as the cells of its columns; what it does not have is empty. */
export function tableRow(document: TableDocument, columns: readonly string[]): string[] {
  const { recording, measures, insights, fields = [], quality, disposition, languages = [], missing = [] } = document;
  const cells = new Map<string, string | number | boolean | null | undefined>([
    ['recording', recording?.name],
    ['recorded_at', recording?.recordedAt],
    ['total_s', document.durations.totalS],
    ['talk_ratio', document.talkRatio],
    ['speech_s', measures?.speechS],
    ['overlap_s', measures?.overlapS],
    ['silence_s', measures?.silenceS],
    ['interruptions', measures?.interruptions.length],
    ['language', languages.join(' ')],
    ['intent', insights?.intent],
    ['sentiment', insights?.sentiment],
    ['summary', insights?.summary],
    ['key_terms', insights?.keyTerms?.join('; ')],
    ['disposition', disposition?.value],
    ['score', quality?.score],
    ['missing', missing.join(' ')],
    ...fields.map(({ name, value }) => [`field_${name}`, value] as const),
    ['transcript', transcriptOf(document)],
    ...Object.entries(recording?.metadata ?? {}).map(([name, value]) => [`meta_${name}`, value] as const),
  ]);
  return columns.map((column) => String(cells.get(column) ?? ''));
}

/** A line for each piece of speech, in the order of time. */
function transcriptOf({ channels, speakers = [] }: TableDocument): string {
  return utterancesOf(
    channels.map((channel) => ({ ...channel, words: [] })),
    (label) => speakers.find((speaker) => speaker.label === label)?.role,
  )
    .map(({ role, text }) => `${role}: ${text}`)
    .join('\n');
}

/**
 * Rows as CSV (RFC 4180: CRLF, quotes doubled, every cell with an end of line quoted). A cell that a spreadsheet would run as a formula begins with an apostrophe.
 */
export function csvLines(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((row) => row.map((cell) => (isFormula(cell) ? `'${cell}` : cell))),
    { record_delimiter: 'windows', quoted_match: /^[ \t]|[ \t]$|[\r\n]/u },
  );
}

/** Numbers may begin with a minus, and telephone numbers with a plus; everything else that begins like a formula is text of people. */
function isFormula(cell: string): boolean {
  return /^[=+\-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}]/u.test(cell) && !/^(?:-?\d+(?:\.\d+)?|\+[1-9]\d{6,14})$/u.test(cell);
}
