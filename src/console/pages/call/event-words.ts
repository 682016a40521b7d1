import { useWords, words } from '../../words.ts';
import { nameIn } from './words.ts';

/** Events of a timeline by their types. */
export const eventWords = words(
  {
    attached: 'Line connected',
    detached: 'Line closed',
    'caller-committed': 'Caller’s turn over',
    final: 'Words recognised',
    'asked-early': 'Dialog asked early',
    'early-answer': 'Early answer',
    'dialog-asked': 'Dialog asked',
    'dialog-answered': 'Dialog answered',
    'tts-asked': 'Speech asked for',
    'tts-first-byte': 'First audio',
    'first-frame': 'Reply begins',
    'bot-finished': 'Reply heard out',
    hold: 'Hold',
    resume: 'Resumed',
    restore: 'Restored',
    clear: 'Cleared: caller cut in',
    digit: 'Key pressed',
    'digits-sent': 'Keys sent',
    filler: 'Filler played',
    ordered: 'Order of an operator',
    'answered-by': 'Answered by',
    'opted-out': 'Opted out',
    speech: 'Speech service',
    transfer: 'Transfer',
    'fail-over': 'Bot’s server down',
    witness: 'Carrier’s detection',
    recogniser: 'Recogniser',
    problem: 'Problem',
  },
  {
    attached: 'लाइन जुड़ी',
    detached: 'लाइन बंद',
    'caller-committed': 'कॉलर की बारी समाप्त',
    final: 'शब्द पहचाने गए',
    'asked-early': 'संवाद से पहले पूछा',
    'early-answer': 'पहले का उत्तर',
    'dialog-asked': 'संवाद से पूछा',
    'dialog-answered': 'संवाद का उत्तर',
    'tts-asked': 'वाणी माँगी',
    'tts-first-byte': 'पहली ध्वनि',
    'first-frame': 'उत्तर शुरू',
    'bot-finished': 'उत्तर पूरा सुना गया',
    hold: 'ठहराव',
    resume: 'फिर शुरू',
    restore: 'लौटाया',
    clear: 'रुका: कॉलर ने टोका',
    digit: 'कुंजी दबाई',
    'digits-sent': 'कुंजियाँ भेजीं',
    filler: 'भराव बजा',
    ordered: 'संचालक का आदेश',
    'answered-by': 'किसने उठाया',
    'opted-out': 'कॉल से मना किया',
    speech: 'वाणी सेवा',
    transfer: 'स्थानांतरण',
    'fail-over': 'बॉट का सर्वर बंद',
    witness: 'कैरियर की पहचान',
    recogniser: 'पहचान',
    problem: 'समस्या',
  },
);

/** What events are called; an event that this page does not know keeps its own name. */
export function useEventName(): (type: string) => string {
  const texts = useWords(eventWords);
  return (type) => nameIn(texts, type) ?? type;
}
