import { say, useWords, words } from '../words.ts';

const orderWords = words(
  {
    ordered: '{by}: {order}',
    'hang-up': 'hang up',
    transfer: 'transfer',
    say: 'typed text is said',
    mute: 'bot muted, taken over by typing',
    unmute: 'bot has its voice back',
    'take-over': 'takes the call over by voice',
    'give-back': 'gives the call back to the bot',
    whisper: 'whispers to the bot',
    call: 'The call itself',
    'time-limit': 'Time limit',
    console: 'Console',
  },
  {
    ordered: '{by}: {order}',
    'hang-up': 'कॉल काटी',
    transfer: 'स्थानांतरण',
    say: 'लिखा हुआ बोला जा रहा है',
    mute: 'बॉट चुप किया, लिखकर कॉल ली',
    unmute: 'बॉट फिर बोल सकता है',
    'take-over': 'आवाज़ से कॉल ली',
    'give-back': 'कॉल बॉट को वापस दी',
    whisper: 'बॉट को चुपके से बताया',
    call: 'कॉल स्वयं',
    'time-limit': 'समय सीमा',
    console: 'कंसोल',
  },
);

/** Who ordered something: a user's own name, or the id of an API key. @param by as the gateway says it: `console asha`, `key_1`, `time-limit` */
export function usePersonName(): (by: string) => string {
  const w: Readonly<Record<string, string>> = useWords(orderWords);
  return (by) => (by.startsWith('console ') ? by.slice('console '.length) : (w[by] ?? by));
}

/** An operator's order as a line of a transcript: `asha: bot muted`. */
export function useOrderText(): (order: string, by: string) => string {
  const w: Readonly<Record<string, string>> = useWords(orderWords);
  const personName = usePersonName();
  return (order, by) => say(w['ordered'] ?? '', { by: personName(by), order: w[order] ?? order });
}
