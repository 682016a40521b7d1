import type { AnsweredBy } from '../../config/answered-by.ts';
import { plainWords } from '../turn/transcript.ts';

/** Words that point to a kind of party at the far end. `weight` is a log-likelihood ratio, in nats. */
export interface Cue {
  readonly id: number;
  readonly by: AnsweredBy;
  readonly weight: number;
}

type Row = readonly [by: AnsweredBy, weight: number, phrases: RegExp];

/** Weights: 5 is said by this class alone, 3 seldom by others, 2 also by others. English first, then Hindi in both scripts. */
const ROWS: readonly Row[] = [
  // Mailboxes: of phones, of carriers, and people's own greetings.
  [
    'mailbox',
    5,
    / (leave|record|drop)( us| me)? (a|your|an?y?|the|short|brief|detailed) ?(\w+ )?(message|msg|massage|voicemail)/,
  ],
  ['mailbox', 5, / (after|at|following|hear) (the )?(\w+ )?(tone|beep|bleep|signal)/],
  ['mailbox', 5, / (voice ?mail|voice ?mailbox|voice mailbox|answering machine|answer phone|message bank)/],
  ['mailbox', 4, / leave your (name|number)/],
  ['mailbox', 3, / (you ve|you have|you) reached (the )?(voice|mail|phone|cell|desk|home|personal)/],
  ['mailbox', 2, / (you ve|you have) (just )?(reached|called|got through to)/],
  [
    'mailbox',
    4,
    / (can t|cannot|can not|couldn t|unable to) (come to|get to|answer|take|pick up|reach) (the|my|your|our|this) (phone|call)/,
  ],
  ['mailbox', 3, / (not|isn t|is not|are not|un) ?available (to take|to answer|right now|at the moment|at this time)/],
  [
    'mailbox',
    3,
    / (missed your call|away from (my|the|our) (phone|desk)|get back to you|return your call|call you (right )?back (as soon|when|later)|i ll call you back)/,
  ],
  [
    'mailbox',
    3,
    / (when you (have|are|ve) (finished|done) recording|hang up or press|at your (own )?expense|for delivery options|to page this person)/,
  ],
  ['mailbox', 3, / as soon as (i|we) can /],
  ['mailbox', 1.5, / (is|are|am) (currently |presently )?(not available|unavailable|unable to)/],
  ['mailbox', 3, / mail ?box (of|for|belonging to) /],
  [
    'mailbox',
    2,
    / (the )?(person|customer|party|number|subscriber|user) (you are|you re|you have|you ve|you) (calling|trying to (call|reach)|dialled|dialed|called) (is not|isn t|cannot|can t|is un|did not|does not answer)/,
  ],
  ['mailbox', 5, / (संदेश|संदेस|मैसेज|मेसेज|मैसिज|सन्देश) (\S+ )?(छोड़|छोड|रिकॉर्ड|रिकार्ड|दर्ज|दे |दें)/],
  ['mailbox', 5, / (sandesh|message|msg) (\w+ )?(chhod|chod|chhor|record kar|record kij|de dijiye|dijiye)/],
  ['mailbox', 5, / (बीप|टोन|beep|tone) (\S+ )?(के बाद|के पश्चात|सुन|ke baad|sunne)/],
  ['mailbox', 5, / (वॉइस ?मेल|वॉयस ?मेल|वाइस ?मेल|वौइस ?मेल)/],
  ['mailbox', 3, / (फ़ोन|फोन|कॉल|काल) (नहीं|नही) (उठा|ले|रिसीव) (पा|सक)/],
  ['mailbox', 3, / (phone|call) nahi (utha|le|receive)\w* (pa|sak)/],
  ['mailbox', 2, / (अभी|इस समय|फ़िलहाल|फिलहाल) (\S+ )?(उपलब्ध नहीं|उपलब्ध नही|व्यस्त|बात नहीं कर)/],
  ['mailbox', 2, / (वापस|बाद में) (कॉल|काल|फ़ोन|फोन|संपर्क) (करूँ|करूं|करें|करेंगे|करूंगा)/],
  // Mailboxes that take no message.
  ['mailbox-full', 12, / (mail ?box|voice ?mail|inbox|message box) (\w+ )?(is|s) (currently |now )?full/],
  [
    'mailbox-full',
    11,
    / (mail ?box|voice ?mail)( service| box)? (\w+ )?(has not been|hasn t been|is not|isn t|not) (set up|setup|been set|configured|initiali[sz]ed|yet)/,
  ],
  [
    'mailbox-full',
    11,
    / (cannot|can t|can not|not|unable to) (accept|accepting|take|taking|record|receive)( any)?( more| new)? messages/,
  ],
  ['mailbox-full', 12, / (मेल ?बॉक्स|मेलबॉक्स|mailbox|वॉइसमेल|वॉयसमेल|इनबॉक्स) (\S+ )?(भर|फुल|फ़ुल|full|bhar)/],
  // Phone assistants that ask who is calling.
  ['screening', 7, / (state|say|record|give|tell me) your name (and|in) (\w+ )?(why|reason|the reason|purpose|what|company)/],
  ['screening', 7, / (name and (the )?(reason|purpose)|reason for (calling|your call)|why you (re|are) calling)/],
  ['screening', 6, / (screening service|call screen|screening (this|your|calls|the)|call assist|being screened)/],
  [
    'screening',
    6,
    / (see if|check (if|whether)|let me see whether) (this person|they|he|she|the person|your party|\w+) (is|are) available/,
  ],
  [
    'screening',
    6,
    / (true ?caller|digital assistant for|call assistant|personal assistant (of|for)|assistant from google|answering (the call )?(for|on behalf))/,
  ],
  ['screening', 4, / (may i|can i) (ask|know) (who is|who s|whos|what) (calling|this is regarding|it is regarding|the call)/],
  ['screening', 4, / (go ahead and say|(hold|stay) on the line while i)/],
  ['screening', 6, / (अपना नाम|आपका नाम) (\S+ ){0,4}(कारण|वजह|उद्देश्य|क्यों)/],
  ['screening', 6, / (apna naam|aapka naam) (\w+ ){0,4}(karan|wajah|kaaran|kyun|kyon)/],
  ['screening', 5, / (स्क्रीनिंग|ट्रूकॉलर|कॉल असिस्टेंट|डिजिटल सहायक|की ओर से (मैं )?(कॉल|फ़ोन|फोन))/],
  ['screening', 4, / (कॉल|फ़ोन|फोन) (करने )?(का|की) (कारण|वजह|उद्देश्य)/],
  // Menus.
  [
    'ivr',
    6,
    / (for|to) (\w+ ){1,6}(press|dial|push|say) (\d|one|two|three|four|five|six|seven|eight|nine|zero|star|hash|pound|the)/,
  ],
  ['ivr', 6, / (press|dial|push) (\d|one|two|three|four|five|six|seven|eight|nine|zero|to|too) (for|to|if)/],
  ['ivr', 4, / (press|dial|push|enter) (the )?(\d|one|two|three|four|five|six|seven|eight|nine|zero|star|hash|pound) /],
  [
    'ivr',
    4,
    / (followed by (the )?(pound|hash|star)|(pound|hash|star) key|main menu|menu options|options have changed|choose from the following|listen carefully)/,
  ],
  [
    'ivr',
    4,
    / (please )?(enter|dial|key in) (your|the) (\w+ )?(extension|account|number|pin|party s|conference|password|mailbox)/,
  ],
  ['ivr', 3, / (para español|for english|if you know your party|say or press|dial by name)/],
  ['ivr', 3, / (not a valid|invalid) (\w+ )?(extension|choice|entry|number|option|response|selection)/],
  [
    'ivr',
    6,
    / (के लिए|हेतु|ke liye|ke lie) (\S+ ){0,3}(\d|एक|दो|तीन|चार|पाँच|पांच|शून्य|ek|do|teen|char|one|two) ?(\S+ )?(दबा|डायल|daba|dial)/,
  ],
  ['ivr', 4, / (दबाएँ|दबाएं|दबाये|दबाइए|दबाइये|dabaen|dabaye|dabaiye|dabayen)/],
  // Queues.
  ['hold', 6, / (your|you re) call is (very )?important/],
  [
    'hold',
    6,
    / (all|our) (of )?(our )?(\w+ )?(agents|representatives|operators|executives|advisors|associates|lines) are (\w+ )?(busy|assisting|helping|speaking)/,
  ],
  [
    'hold',
    5,
    / (next available|in the order|position in (the )?queue|number in (the )?queue|in the queue|estimated wait|wait time)/,
  ],
  ['hold', 4, / (remain|stay|continue to) (on the line|on hold|hold)/],
  ['hold', 3, / (please (hold|wait)|you are on hold|transferring your call|connecting your call|placed? (you )?on hold)/],
  ['hold', 6, / (आपकी|आपका|aapki|aapka) (कॉल|काल|call) (\S+ ){0,3}(महत्वपूर्ण|mahatvapurn|keemti|क़ीमती|कीमती)/],
  ['hold', 5, / (सभी|हमारे|sabhi|hamare) (\S+ ){0,3}(व्यस्त|vyast|busy)/],
  ['hold', 3, / (प्रतीक्षा|इंतज़ार|इंतजार|लाइन पर बने|होल्ड पर|prateeksha|line par bane|hold par)/],
  // Carrier announcements, and machines that talk.
  [
    'bot',
    5,
    / (switched off|out of (coverage|network|service)|not reachable|unreachable|not in service|been disconnected|does not exist|temporarily (suspended|unavailable|out)|no longer in service)/,
  ],
  ['bot', 3, / check the number/],
  [
    'bot',
    4,
    / (call|number) (you have )?(dialled|dialed|called) (\w+ )?(is|cannot|can not|can t|has) (\w+ )?(be completed|busy|incorrect|invalid|changed)/,
  ],
  [
    'bot',
    5,
    / (i am|i m|this is|you are speaking (with|to)|you re speaking (with|to)) (an? |the |your )?(\w+ )?(ai|virtual|automated|digital|artificial|voice) (\w+ )?(assistant|agent|receptionist|system|bot|line)?/,
  ],
  [
    'bot',
    5,
    / (virtual (assistant|agent|receptionist)|ai (assistant|agent|receptionist)|chat ?bot|automated (assistant|system|attendant))/,
  ],
  [
    'bot',
    5,
    / (स्विच ?ऑफ़|स्विच ?ऑफ|switch off|कवरेज क्षेत्र|पहुँच से बाहर|पहुंच से बाहर|नेटवर्क क्षेत्र|मौजूद नहीं|अस्तित्व में नहीं|सेवा में नहीं|उत्तर नहीं दे रहा|संपर्क नहीं हो)/,
  ],
  ['bot', 5, / (वर्चुअल|आभासी|ए ?आई|एआई|स्वचालित|ऑटोमेटेड) (\S+ )?(असिस्टेंट|सहायक|एजेंट|सहायिका|सिस्टम|बॉट)/],
  // People, who ask who is calling.
  [
    'person',
    3.5,
    / (who is (this|it|that|calling|speaking)|who s (this|that|calling|speaking|there)|who are you|who am i (talking|speaking)|what s this about|what is this about|what do you want|who do you want)/,
  ],
  [
    'person',
    3,
    / (can|could|did) you hear me|(i can t|i cannot|can t) hear you|(are you|anyone|anybody|somebody) there|is (anyone|anybody|somebody) there/,
  ],
  [
    'person',
    2.5,
    / (this is (he|she|him|her)|yes speaking|speaking yes|yeah speaking|that s me|it s me|i m here|i am here|i ve got it|i picked up|wait i)/,
  ],
  [
    'person',
    2,
    / (how (can|may) (i|we) help|what can i do for you|this is \w+( \w+)? speaking|\w+ speaking how|go ahead i m listening)/,
  ],
  [
    'person',
    3,
    / (wrong number|not interested|stop calling|don t call|i m (busy|driving|in a meeting)|call (me )?later|hold on let me|one sec )/,
  ],
  ['person', 3.5, / (कौन|कौन है|कौन बोल|किससे बात|किस से बात|kaun|kon bol|kaun hai|kisse baat)/],
  ['person', 3, / (आवाज़ आ|आवाज आ|सुनाई दे|awaaz aa|awaz aa|sunai de)/],
  ['person', 3, / (बोलिए|बोलिये|बोलो|बताइए|बताइये|बताओ|कहिए|कहिये|bolo |boliye|bataiye|batao|kahiye)/],
  ['person', 3, / (बोल रहा हूँ|बोल रही हूँ|बोल रहा हूं|बोल रही हूं|बोल रहा हु|bol raha h|bol rahi h|मैं ही|main hi)/],
  [
    'person',
    2.5,
    / (क्या काम|क्या चाहिए|किस बारे में|kya kaam|kya chahiye|kis baare|अभी बात नहीं|रॉन्ग नंबर|गलत नंबर|ग़लत नंबर|wrong number)/,
  ],
];

/** What people say when they answer. */
const GREETING_WORDS = new Set(
  (
    'hello hallo helo hullo hi hey hiya yes yeah yep yup speaking good morning afternoon evening there this is it s ok okay ' +
    'हैलो हेलो हलो हल्लो हाय हाँ हां हा जी नमस्ते नमस्कार प्रणाम अस्सलाम सलाम गुड मॉर्निंग यस ' +
    'haan han haanji ji namaste namaskar namaskaar salaam halo'
  ).split(' '),
);
const MOST_GREETING_WORDS = 5;
/** Weight of words that are only a greeting. */
const GREETING_WEIGHT = 2;

/** Cues are numbered; the one past the rows is that of a bare greeting. */
export const GREETING_CUE = ROWS.length;

/** The cues in a text, each once. @param text as recognised so far */
export function cuesIn(text: string): readonly Cue[] {
  const plain = ` ${plainWords(text.normalize('NFC'))} `;
  const found: Cue[] = [];
  for (const [id, [by, weight, phrases]] of ROWS.entries()) if (phrases.test(plain)) found.push({ id, by, weight });
  const words = plain.trim().split(' ');
  const greets = words.length <= MOST_GREETING_WORDS && words[0] !== '' && words.every((word) => GREETING_WORDS.has(word));
  if (greets) found.push({ id: GREETING_CUE, by: 'person', weight: GREETING_WEIGHT });
  return found;
}
