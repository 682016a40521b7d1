// How callers say in English that they want no more calls, or that the number is wrong. Words are as `opt-out.ts` cuts them:
// negations are one word (`dont`, `isnt`), articles, hesitations and swear words are gone.
import type { OptOutRow } from './opt-out.ts';
import type { WordClasses } from './word-patterns.ts';

export const ENGLISH_CLASSES: WordClasses = {
  // The acts. A recogniser writes `call me` for `calling me` and the other way round, so that forms are kept apart only where it matters.
  CALLING: 'calling phoning ringing dialing dialling contacting telephoning',
  CALL: 'call phone ring dial contact telephone reach CALLING',
  CALLS: 'calls robocalls callings',
  CALLED: 'called phoned rung rang dialed dialled contacted',
  BOTHER:
    'bother disturb harass pester annoy trouble bug hound spam bothering disturbing harassing pestering annoying troubling bugging hounding spamming',
  BOTHERED: 'bothered disturbed harassed pestered annoyed spammed',
  STOP: 'stop quit cease halt discontinue',

  // Polarity.
  NOT: 'dont never not',
  CANNOT: 'cant shouldnt mustnt neednt arent',
  NEGATION: 'NOT CANNOT didnt doesnt wont wouldnt isnt wasnt havent hasnt nobody without',
  LINK: 'want wanna wish you to say saying said ask asked mean tell told telling that i guys people them him me like try trying need going have',
  ONLIST: 'to be get you me my number name take taken this',
  WANT: 'want wish wanna like need care',
  // What may stand between a negation and the act without changing who calls whom.
  SOFT: 'ever again to be keep keeps try trying continue dare you guys just even like go start come bother',
  OFTEN:
    'any more further of these those your such all other from phone sales marketing promotional spam unwanted unsolicited cold recorded automated robo telemarketing stupid future to with it making getting receiving get receive more anymore',
  ACTOR: 'you anyone anybody nobody someone somebody people guys company them they your yall u folks lot bot robot',
  REPORT: 'say said saying says mean meant told tell telling tells ask asked asking asks',

  // Whom or what the act reaches.
  OUR: 'my our this that her his mine these',
  LINE: 'number numbers phone house home cell mobile landline line office workplace work family mother mom mum dad father wife husband son daughter parents kids grandmother grandma place business desk mobile',
  TARGET: 'me us here back up OUR LINE again anymore ever on at to for about number out dads moms mothers fathers wifes husbands',
  // Words that begin something new: nobody is being called by them.
  NEXT: 'again anymore ever back and or but because cause i im we if you thanks thank bye goodbye yaar ji bhai bhaiya mujhe every everyday daily for about dont never stop no regarding with understand understood alright all over constantly remove take hello man buddy ill',
  HE: 'he she they who',

  // The list and what is on it.
  REMOVE: 'remove delete erase scrub wipe purge unsubscribe blacklist clear eliminate',
  TAKE: 'take get cross strike pull drop remove delete scratch keep',
  DETAILS: 'number numbers name details contact contacts info information data record',
  OFF: 'off of from out outta',
  LIST: 'list lists database system records record registry register dialer dialler files file books book directory',
  WHOSE:
    'your this that these those calling call calls callers phone marketing dialing telemarketing sales contact contacts all any of stupid company internal own whatever everyones',
  PUT: 'put add place register include mark set enter',
  MUTED: 'dnd blacklist',

  THREAT:
    'report reporting police cops sue suing lawyer lawyers attorney complaint complain court legal fcc ftc trai authorities block consumer harassment action',
  CONSENT: 'consent permission authorization authorisation',
  POLITE: 'rather appreciate prefer great nice grateful hope wish love like lovely better thankful mind',
  DAY: 'monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays weekend weekends weekdays holidays',
  PART: 'morning evening afternoon night noon lunch midnight nights mornings evenings week month time hour weekend work school office',
  DIGIT: 'zero one two three four five six seven eight nine double triple oh ends',
  // After "there's no … here" where no name is meant.
  THING:
    'parking problem issue way need reason time point space network signal power light water lift milk food room one more need rush hurry doubt',
  PERSON: 'person guy man woman lady party house',
};

/** What makes "not now" or "not there" of a refusal, and names of "call me": `don't call me before nine`, `don't call me sir`. */
const LIMITED = [
  'TARGET* now|today|tonight|tomorrow|before|until|till|unless|during|while|between|yet|when|if|whenever',
  'TARGET* right now',
  'TARGET* after ^this|today|now|that',
  'TARGET* so|too|very|this|that early|late|much|soon',
  'TARGET* early|late|tomorrow',
  'TARGET* on|over my? DAY|birthday|vacation|holiday',
  'TARGET* this|next|in|at|that|during PART|middle',
  'TARGET* at this|that|odd|work|school|lunch|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve',
  'that|sir|madam|maam|mam|mister|miss|mrs|mr|names|dear|honey|baby|sweetheart|uncle|aunty|auntie|bro|brother|stupid|liar|crazy|darling',
  // Another way to reach the caller is given.
  'TARGET* ..4 CALL me|my|us|on|him|her|this ^again|every|everyday|all|daily|anymore|constantly',
  'TARGET* ..4 CALL me|us|him|her|instead $',
  'TARGET* ..4 use|try this|my|other|another|that|his|her',
  'TARGET* ..4 text|email|message|whatsapp me',
];
/** "Stop calling me now" is no request to go on later. */
const LIMITED_STOP = LIMITED.slice(1);

const REFUSALS = [
  // don't call me, never ring here again, you are not allowed to be calling my house
  ...[
    'me|us|here|back',
    '$',
    'NEXT',
    'from next|now|today|tomorrow',
    'my again|anymore',
    'OUR LINE',
    'OUR dads|moms|mothers|fathers|wifes|husbands|phone LINE',
    'out to me|us',
    'LINE',
  ].flatMap((target) => [
    `NOT SOFT* CALL ${target}`,
    `NOT WANT ACTOR ACTOR* SOFT* CALL ${target}`,
    `NOT WANT ACTOR from ..2 CALLING ${target}`,
    `dont CALLED ${target}`,
    `NOT want|wanna ACTOR ..3 to SOFT* CALL ${target}`,
    `you guys|people|all? CANNOT SOFT* CALL ${target}`,
    `not|never|dont allowed|authorised|authorized|permitted|supposed|going to SOFT* CALL ${target}`,
    `no need|reason|point for? you? to|of|in SOFT* CALL ${target}`,
    `dont|neednt need|have to SOFT* CALL ${target}`,
    `POLITE ..4 didnt|dont|never|not|wouldnt|stopped|quit SOFT* CALL|CALLED ${target}`,
    `sure|ensure ..2 nobody|NOT SOFT* CALL|CALLS ${target}`,
    `refrain|abstain|desist|avoid from? CALLING ${target}`,
  ]),
  'NOT want|wish|wanna|like|care|prefer to? be CALLED|BOTHERED',
  'prefer|rather not to? be CALLED|BOTHERED',
  'NOT WANT|accept|take|authorize|appreciate|consent|agree OFTEN* CALLS',
  'NOT WANT OFTEN* call from you|your|anyone|anybody|them|this',
  'rather|prefer|like not OFTEN* CALLS',
  'no OFTEN* CALLS $|NEXT|from|to|on|at',
  'no more|further phone|sales|marketing? CALLS',
  'no more|further phone? CALL|CALLING',
  'no call again|anymore',
  'NOT interested in OFTEN* CALLS',
  'NOT want|wish|wanna|care|need to? ever? hear from you|your|anyone|anybody|this|them|any',
  'NOT ever? use|try|keep|save|dial|have OUR LINE again|anymore|ever',
  'NOT ever? use|try|dial this|my phone? number $',
  'NOT SOFT* BOTHER me|us|my|our|again|anymore',
  'NOT disturb $',
  'NOT want|wanna|wish to be on OFTEN* LIST',
];

const STOPS = [
  ...[
    'me|us|here|back',
    '$',
    'NEXT|please',
    'OUR LINE',
    'LINE',
    'OUR dads|moms|mothers|fathers|wifes|husbands|phone LINE',
    'out to me|us',
  ].map((target) => `STOP it? with? keep? CALL ${target}`),
  'STOP|end|cancel|enough OFTEN* CALLS',
  'knock|cut it off|out with OFTEN* CALLS',
  'these|your|those|all phone|sales|spam|marketing? CALLS ..2 STOP',
  'you|people|guys keep|still? CALLING ..2 STOP',
  'make it|them|this|CALLS STOP ..6 CALLS',
  'STOP it? BOTHER me|us|my|our|$|NEXT|this|with',
  'if|unless you guys|people? dont|wont|cant STOP CALL',
  'why dont|cant|wont you guys|people|all? STOP CALL',
  'cease and desist',
  'no|enough ..1 more? robocalls|CALLS',
];

export const ENGLISH: readonly OptOutRow[] = [
  { verdict: 'opt-out', patterns: REFUSALS, unless: LIMITED },
  { verdict: 'opt-out', patterns: STOPS, unless: LIMITED_STOP },
  {
    verdict: 'opt-out',
    patterns: [
      // Lists and numbers.
      'REMOVE|block me|us $',
      'REMOVE me|us OFF WHOSE* LIST|CALLS|here|there|it|this',
      'TAKE me|us ..1 OFF WHOSE* LIST',
      'TAKE me|us off|out $',
      'TAKE me|us off|out NEXT',
      'REMOVE|block OUR phone|mobile|cell|contact|telephone? number|numbers',
      'REMOVE OUR contact|phone? details|contact|info|data|information',
      'REMOVE all my data|details|info|information',
      'TAKE|REMOVE OUR phone|mobile|cell|contact|telephone? DETAILS OFF WHOSE* LIST|here|there|$',
      'TAKE OUR phone|mobile|cell|contact|telephone? number OFF',
      'TAKE|REMOVE it off|out|from WHOSE* LIST',
      'delete|erase|remove it right|now|immediately|please|$ now?',
      'number|name|details|me ..2 removed|deleted|erased|unsubscribed|blacklisted|blocked',
      'number|name|details|me ..2 taken off|out',
      'be|get|been removed|deleted|unsubscribed|blacklisted $|from|off',
      'be|get|been taken off|out',
      'get|be off OFTEN* LIST',
      'lose|forget|ditch|toss|trash|burn OUR phone|mobile|cell? number',
      'throw OUR phone? number away|out',
      'get rid of OUR phone|mobile|cell? number',
      'forget you ever had OUR number',
      'PUT me|us|OUR DETAILS? ..4 dont call|contact|disturb',
      'PUT me|us|OUR DETAILS? ..4 MUTED',
      'im|am|number|is|are|were|been on|in|under|with ..2 dont call|contact|disturb LIST',
      'im|am|number|is|are registered|listed? on|in|under|with ..2 dnd',
      'im|am|is|are registered|listed on|in|under|with ..2 dont call|contact|disturb',
      'activate|enable|start|apply|do dnd',
      'unsubscribe|optout $|NEXT',
      'unsubscribe me|us|it|this|OUR phone? number? $|NEXT',
      'unsubscribe|optout me|us|OUR? phone? number? from|of OFTEN* CALLS|this|it|here|LIST',
      'unsubscribe|optout me|us|OUR? phone? number? from|of WHOSE* LIST|CALLS',
      'opt me|us|OUR number? out',
      'leave me|us|her|him alone',
      'leave my|our family|mother|wife alone',
      'let me|us be $|NEXT',
      // Consent.
      'revoke|revoking|withdraw|withdrawing|cancel|remove|rescind ..3 CONSENT',
      'take|taking back ..2 CONSENT',
      'CONSENT ..2 withdrawn|revoked|cancelled|canceled',
      'dont|never|havent|didnt consent|agree to OFTEN* CALLS',
      'dont|never|havent|didnt consent $|to be',
      'dont|never|havent|didnt give|gave|given|have ..3 CONSENT',
      // Threats.
      'if|when you|anyone|anybody|somebody|someone|people ..3 CALL|CALLS ..6 THREAT',
      'if i get|hear|receive ..4 call|calls|CALLING ..4 THREAT',
      'next time you CALL ..6 THREAT',
      'CALL me|us|here|this|my number|phone? again|one more? time? and|or ..4 THREAT',
      'one|another more? CALL and|or|then ..4 THREAT',
    ],
  },
  {
    verdict: 'aside',
    patterns: [
      // Who speaks or acts is not the one who dials.
      'i|we|ill dont|never|cant|couldnt|wont|didnt SOFT* CALL',
      'im|were|ill|hes|shes|theyre not|never SOFT* CALL',
      'you people|guys? never|dont|didnt CALL|CALLED',
      'HE never|dont|cant SOFT* CALL',
      'if|unless|when|because i|he|she|they dont|cant|never|not SOFT* CALL',
      'if|why|or|whether not CALL',
      'why dont|didnt|havent|cant|wont you|i|they SOFT* CALL',
      'told|tells|asked|asks|telling me|him|her|them|kids|everyone not|never to SOFT* CALL TARGET*',
      'told|tells|asked|asks me|him|her|them|kids|everyone to STOP CALL TARGET*',
      'told|tells|asked my . to STOP CALL TARGET*',
      'he|she|they|who|doctor|brother|sister|husband|wife|boss|lawyer|bank|police said|says|told|tells ..2 NOT|STOP SOFT* CALL|BOTHER TARGET*',
      'NEGATION REPORT ..3 NOT|STOP SOFT* CALL TARGET*',
      'did i REPORT ..2 NOT|STOP SOFT* CALL TARGET*',
      'get|gets|got|take|takes|had|have|has|receive|receives|was|were|are|is|made no OFTEN* CALLS',
      // A refusal of the refusal.
      'NEGATION LINK* STOP|end|miss|cancel|lose OFTEN* CALL|CALLS TARGET*',
      'NEGATION want ..2 CALLS to STOP',
      'NOT|didnt mind|forget|hesitate|worry|fear|regret ..5 CALL TARGET*',
      'NEGATION want|wanna|need ONLIST* off|removed|optout|unsubscribe|deleted|unsubscribed ..2 LIST?',
      'NEGATION opt|unsubscribe|REMOVE|block|TAKE|optout|lose|blacklist me|my|us|this|it|our? ..2 off|out|from|number|OFF? ..1 LIST?',
      'NEGATION ..2 optout|opted|unsubscribe',
      'NEGATION ..4 leave|left me|us? alone',
      'NEGATION need ..3 CONSENT',
      'REMOVE OUR old? number ..2 add|replace|put|use|save|update|new',
      'on|says|mode dont disturb',
      'im|number|phone was ..2 dont disturb',
      'dont disturb mode|sign|my|the|our|your ^family|wife|mother|$',
      'i|ill lose|forget my',
      'CALLS|phone|bell|it STOP ringing',
    ],
  },
  {
    verdict: 'wrong-number',
    patterns: [
      'wrong number|PERSON',
      'speaking|talking to wrong person|man|guy|woman',
      'nobody|anyone|anybody|person|someone|one ..1 by that|this name',
      'nobody|person named|called . live|lives|here|at',
      'theres|there|is|no|nobody ..1 such person',
      'theres no ^THING here',
      'isnt . ..2 number|phone anymore|$|now',
      'isnt . speaking',
      'not ..1 person|one|guy you|youre',
      'im|am not him|her|that|this person|guy|man|woman|$',
      'HE|person|she|they doesnt|dont|no longer? live|lives|stay|stays here|there|at|with|anymore',
      'HE|person|he|she|they no longer live|lives|has|have|use|uses|stay|stays|own|owns ..2',
      'HE|he|she|they|who doesnt|dont have|use|own this number|phone',
      'number|phone doesnt|dont|no belong|longer ..2',
      'number used to belong',
      'just got|bought this number|phone|sim',
      'this my? new number im not',
      'dont know anyone|anybody|any ..1 by that|this name',
      'dont know anyone|anybody called|named',
      'dont know who that|he|she|you|youre|this',
      'never heard of him|her|them|that|this',
    ],
    unless: ['..3 DIGIT DIGIT', 'ill|let|can|ask|he|she|they|try'],
  },
  {
    verdict: 'aside',
    patterns: [
      'gave|give|given|entered|typed|wrote|read|heard|saved|put|shared|told|sent|provided ..3 wrong number|PERSON',
      'i|ive|he|she|they|it|keeps|keep ..1 CALL|CALLED wrong number|PERSON',
      'delivered|gave|given|sent|went|handed|paid ..3 wrong PERSON',
      'wrong person ..1 signed|paid|received|took|got|came|has',
    ],
  },
];
