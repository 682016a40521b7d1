// Words of English opt-outs, in classes. Words are as `opt-out.ts` cuts them: negations are one word (`dont`, `isnt`), articles,
// hesitations and swear words are gone.
import type { WordClasses } from './word-patterns.ts';

export const ENGLISH_CLASSES: WordClasses = {
  // The acts. A recogniser writes `call me` for `calling me` and the other way round, so that forms are kept apart only where it matters.
  CALLING: 'calling robocalling phoning ringing dialing dialling contacting telephoning reaching',
  CALL: 'call phone ring dial contact telephone reach CALLING',
  CALLS: 'calls robocalls callings',
  CALLED: 'called phoned rung rang dialed dialled contacted',
  BOTHER:
    'bother disturb harass pester annoy trouble bug hound spam bothering disturbing harassing pestering annoying troubling bugging hounding spamming irritate irritating',
  BOTHERED: 'bothered disturbed harassed pestered annoyed spammed',
  MISS: 'miss lose forget stop end cancel',
  STOP: 'stop quit cease halt discontinue',

  // Polarity.
  NOT: 'dont never not nolonger',
  CANNOT: 'cant shouldnt mustnt neednt arent',
  NEGATION: 'NOT CANNOT didnt doesnt wont wouldnt isnt wasnt havent hasnt nobody without',
  // Also about a third person: `she doesnt want`.
  NOR: 'NOT doesnt didnt',
  LINK: 'want wanna wish you to say saying said ask asked mean tell told telling that i guys people them him me like try trying need going have',
  ONLIST: 'to be get you me my number name take taken this',
  WANT: 'want wish wanna like need care',
  // Words allowed between a negation and its act, as they do not change who calls whom.
  SOFT: 'ever again to be keep keeps try trying continue dare you guys just even like go start come do',
  OFTEN:
    'any more further solicitation survey of these those your such all other from phone sales marketing promotional spam unwanted unsolicited cold recorded automated robo telemarketing stupid future to with it making getting receiving get receive more anymore',
  ACTOR: 'you anyone anybody nobody someone somebody people guys company them they your yall u folks lot bot robot',
  REPORT: 'say said saying says mean meant told tell telling tells ask asked asking asks',

  // Object of the act.
  OUR: 'my our this that her his mine these',
  LINE: 'number numbers phone house home cell mobile landline line office workplace work family maa papa mother mom mum dad father wife husband son daughter parents kids grandmother grandma place business desk mobile kid child children brother sister grandpa grandparents household person residents patients family',
  TARGET:
    'me us here back up OUR LINE again anymore ever on at to for about number out dads moms mothers fathers wifes husbands daughters sons',
  // Words that begin a new thought.
  NEXT: 'again anymore ever back and or but because cause i im we if you thanks thank bye goodbye yaar ji bhai bhaiya mujhe every everyday daily for about dont never stop no regarding with understand understood alright all over constantly remove take hello man buddy ill',
  HE: 'he she they who',
  RELATIVE:
    'maa papa mother mom mum dad father wife husband son daughter parents grandmother grandma grandpa grandfather brother sister boss uncle aunt',
  WHOM: 'me us her him them',

  // The list and what is on it.
  REMOVE:
    'remove delete erase scrub wipe purge unsubscribe blacklist clear eliminate strip deregister discard destroy removing deleting erasing unregister',
  TAKE: 'take get cross strike pull drop remove delete scratch taking getting crossing removing strip',
  DETAILS: 'number numbers name details contact contacts info information data record',
  OFF: 'off of from out outta',
  LIST: 'list lists campaign campaigns database system records record registry register dialer dialler files file books book directory contacts phonebook',
  WHOSE:
    'your this that these those calling call calls callers phone business mailing marketing dialing telemarketing sales contact contacts all any of stupid company internal own whatever everyones',
  PUT: 'put add place register include mark set enter',
  MUTED: 'dnd blacklist',
  // As the Hindi spellings write them.
  ACTIVATE: 'activate chalu enable start apply do',
  REGISTERED: 'registered register listed',
  TELL: 'tell told telling ask asked asking request requested requesting beg begging warn warned warning say said saying',

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
export const LIMITED = [
  'TARGET* now|today|tonight|tomorrow|before|until|till|unless|during|while|between|yet|when|if|whenever',
  'TARGET* right now',
  'TARGET* after ^this|today|now|that',
  'TARGET* so|too|very|this|that early|late|much|soon',
  'TARGET* early|late|tomorrow',
  'TARGET* on|over my? DAY|birthday|vacation|holiday',
  'TARGET* this|next|in|at|that|during PART|middle',
  'TARGET* at this|that|odd ^LINE',
  'TARGET* at work|school|lunch|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve',
  'that|sir|madam|maam|mam|mister|miss|mrs|mr|names|dear|honey|baby|sweetheart|uncle|aunty|auntie|bro|brother|stupid|liar|crazy|darling',
  // Another way to reach the caller is given.
  'TARGET* ..4 CALL me|my|us|on|him|her|this ^again|every|everyday|all|daily|anymore|constantly',
  'TARGET* ..4 CALL me|us|him|her|instead $',
  'TARGET* ..4 use|try this|my|other|another|that|his|her',
  'TARGET* ..4 text|email|message|whatsapp me',
  'TARGET* ..1 ill|i|we|well CALL you',
];
/** "Stop calling me right now", or "at work", is no request to go on later. */
export const LIMITED_STOP = [
  'TARGET* before|until|till|between|after ^this|today|now|that',
  'TARGET* so|too|very|this|that early|late|much|soon',
  'TARGET* early|late',
  'TARGET* at this|that|odd|night|lunch|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve',
  'TARGET* on|over DAY',
  'TARGET* during|in PART',
  'TARGET* ..4 CALL me|my|us|on|him|her|this ^again|every|everyday|all|daily|anymore|constantly|lawyer|police',
  'TARGET* ..4 use|try this|my|other|another|that|his|her',
  'TARGET* ..4 text|email|message|whatsapp me',
];
