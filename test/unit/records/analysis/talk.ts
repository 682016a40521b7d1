import { type ChannelTranscript, utterancesOf } from '../../../../src/records/analysis/transcript.ts';

/** Alternating speech, two seconds a line: `agent: ...`. */
export function talk(...lines: readonly string[]) {
  const segments = lines.map((line, index) => {
    const [role = '', ...text] = line.split(': ');
    return { role, text: text.join(': '), startS: index * 2, endS: index * 2 + 2 };
  });
  const roles = ['customer', 'agent'];
  const channels = roles.map((role): ChannelTranscript => {
    const own = segments.filter((segment) => segment.role === role);
    return {
      role,
      source: 'asr',
      text: own.map(({ text }) => text).join(' '),
      segments: own.map(({ text, startS, endS }) => ({ text, startS, endS })),
      words: [],
    };
  });
  return utterancesOf(channels);
}
