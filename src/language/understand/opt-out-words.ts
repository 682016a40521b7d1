// Words of opt-outs in English and Hindi, in classes. Words are as `opt-out.ts` cuts them: negations are one word (`dont`, `isnt`),
// articles, hesitations and swear words are gone.
import type { WordClasses } from './word-patterns.ts';
import { pairTable } from '../../kernel/pair-table.ts';

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

/**
 * Spellings of Hindi words, in either script, by the one that the patterns use. Latin ones are looked up after folding (`nahin`, `naheen` and `nahi` are one), so that
 * only those that differ by more are listed. The last ones, from `dont` on, are English in Devanagari.
 */
export const HINDI_SPELLINGS = pairTable(
  `call=कॉल कोल काल kol caal, calls=कॉल्स कॉलें कॉलों, phone=फोन फ़ोन fon fone, calling=कॉलिंग,
  karo=करो करें करे करिए करिये करिएगा करियेगा कीजिए कीजिये कीजिएगा कीजियेगा करियो karo karen karein kare kariye kariyega kijiye kijie kijiega kijiyega karyo kijiyo,
  karna=करना करनी करवाना करवानी karna karni karwana, karne=करने करके करने karne karke,
  kar=कर करा कराओ करवाओ करवाऊं करवा करवाने करवाइए करूं kar kara karao karwao kardo kardijiye karun karu,
  kiya=किया की किए kiya kia ki, kiye=kiye, karoge=करोगे करेंगे करेंगी करेगा करेगी karega karegi karoge karenge karengi,
  aana=आना आनी आने aana aani aane, aaye=आए आये आएं आयें आएगा आएगी aaye aae aye, aaya=आया आई आयी आ aaya aayi, mat=मत मती mat math,
  na=न ना na, nahi=नहीं नही nahi nai nhi, band=बंद बन्द band, stop=स्टॉप, ruko=रोको रोकिए रोक रोकना रुकेंगे रुकेगा रुके roko rok rokna,
  chhod=छोड़ छोड़ो छोड़िए छोड़ना छोड़ें chhod chhodo chhodna chhor chhoro chodiye,
  hatao=हटा हटाओ हटाइए हटाइये हटाना हटाएं हटाए हटवा हटवाना हटवाओ हटवाइए हट हटे हटेगा हटना hata hatao hatana hataiye hatado hatwa hatwana,
  nikalo=निकाल निकालो निकालिए निकालना निकालें निकाले निकलवा निकलवाना nikal nikalo nikaliye nikalna,
  kaato=काट काटो काटिए काटना काटिएगा काटें kaat kaato kaatna kaatiye, mitao=मिटा मिटाओ मिटाइए मिटाना mita mitao,
  delete=डिलीट डीलीट, remove=रिमूव, block=ब्लॉक, blacklist=ब्लैकलिस्ट, unsubscribe=अनसब्सक्राइब,
  daalo=डाल डालो डालिए डालें डालना डलवा daal daalo daaliye daalna, lagao=लगा लगाओ लगाइए लगाना lagao lagana lagaiye,
  chalu=चालू एक्टिवेट एक्टिव ऑन chalu activate, number=नंबर नम्बर nambar, naam=नाम naam, paas=पास, kyon=क्यों क्यूं क्यूँ kyon kyun kyu,
  so=सो, details=डिटेल डिटेल्स डाटा डेटा, list=लिस्ट सूची, system=डाटाबेस सिस्टम डेटाबेस रिकॉर्ड रिकार्ड, dnd=डीएनडी,
  mera=मेरा मेरे मेरी हमारा हमारे हमारी अपना अपने अपनी mera mere meri hamara hamare hamari apna apne apni,
  mujhe=मुझे मुझको हमें हमको mujhe muje mujhko hame hume hamko mereko, aap=आप आपको तुम तुमलोग aap aapko tum,
  aapka=आपका आपके आपकी तुम्हारा तुम्हारे तुम्हारी aapka aapke aapki tumhara tumhare, main=मैं हम main hum,
  ye=यह ये इन ऐसे ऐसा ये सब ye yeh yah aise, iss=इस iss, sare=सारे सारी सब सभी sare sab sabhi,
  dobara=दोबारा दुबारा dobara dubara, phir=फिर phir fir, kabhi=कभी kabhi, aage=आगे आइंदा भविष्य aage aainda, agli=अगली अगले agli,
  ab=अब अबसे ab, bhi=भी bhi, aur=और aur, baar=बार baar, roz=रोज रोज़ roz, se=से se, ko=को ko, mein=में mein, par=पर पे par pe,
  ke=के का ke ka, ne=ने ne, koi=कोई कोई किसी koi kisi, aaj=आज aaj, kal=कल परसों kal parso, abhi=अभी फिलहाल abhi filhal,
  din=दिन रात सुबह शाम दोपहर रविवार संडे शनिवार सोमवार मंगलवार बुधवार गुरुवार शुक्रवार हफ्ते महीने छुट्टी raat subah shaam dopahar hafte,
  baje=बजे baje, baad=बाद baad, pehle=पहले pehle pahle, tak=तक tak, samay=समय वक्त टाइम samay waqt,
  kaha=कहा बोला बोली कह बताया kaha bola boli bataya, mana=मना mana, usne=उसने उन्होंने usne unhone,
  pareshan=परेशान तंग pareshan tang, disturb=डिस्टर्ब, peechha=पीछा जान peecha pichha jaan, akela=अकेला अकेले akela,
  iske=इसके उसके iske uske, chahiye=चाहिए चाहिये chahiye chahie, chahta=चाहता चाहती चाहते चाहतीं चाहूंगा chahta chahti chahte,
  zaroorat=जरूरत ज़रूरत आवश्यकता zaroorat zarurat jarurat, shikayat=शिकायत कंप्लेंट कम्प्लेंट रिपोर्ट पुलिस केस कोर्ट ट्राई shikayat,
  sahmati=सहमति अनुमति परमिशन इजाजत हक sahmati anumati ijazat haq, waapas=वापस wapas, kya=क्या kya, kaise=कैसे kaise,
  tha=था थी थे tha thi, hai=है हैं हूँ hai hain hoon, gaya=गया गई गए gaya gayi, bhulo=भूल भूलना भूलें भूलिए bhool bhoolna bhulna, to=तो,
  galat=गलत ग़लत galat, wrong=रॉन्ग राँग रोंग रांग rong, yahan=यहाँ इधर yahan idhar, nahijanta=जानता जानती janta jaanta jaanti,
  rehta=रहता रहती रहते rehta rehti rehte rahta, unka=उनका उसका unka uska, istemal=इस्तेमाल इस्तमाल istemal,
  purana=पुराना पुराने purana, naya=नया नई बदल naya badal, karte=करते करता करती karte karta, hi=ही, accha=अच्छा बेहतर acha behtar,
  ho=हो, milao=मिलाना मिलाओ milana, sampark=संपर्क सम्पर्क कॉन्टैक्ट कांटेक्ट कॉन्टेक्ट sampark, jaye=जाए जाये जाय jaye jaaye,
  khabardar=खबरदार, dekh=देख, bahar=बाहर, bacho=बचें बचिए बचो bachein bachiye, kab=कब,
  dijiye=दीजिए दीजिये दें दीजिएगा dijiye dijie dijiyega, aata=आता आते आती aate aati, ghumao=घुमाना घुमाओ, lena=लेना लेनी लेने,
  yaar=यार, ji=जी, bhai=भाई भैया, wall=वॉल वाल वोन वगैरह वगैरा wagairah vagera, last=आखिरी अंतिम लास्ट aakhri akhiri,
  bilkul=बिल्कुल बिलकुल, roko=रोको, khao=खाओ खा खराब khao kha kharab, sir=सिर, gharwalon=घरवालों gharwalon gharwalo, walon=वालों,
  pasand=पसंद, turant=तुरंत फौरन turant, jaldi=जल्दी, wala=वाला वाले वाली wale wali, sar=सर खोपड़ी, dimag=दिमाग dimaag,
  matlab=मतलब, lag=लग लगा लगाया मिलाया मिला डायल laga lagaya milaya, jagah=जगह, baat=बात, aadmi=आदमी इंसान व्यक्ति insaan,
  wo=वो वह woh, bol=बोल, di=दी दिया दे diya, honge=होंगे होगा होगी होना होनी होने hoga hogi hone hona honi,
  pariwar=परिवार फैमिली parivar,
  dada=दादाजी दादा दादी नानी नाना बहन बच्चों बच्चे बच्ची घरवाले dada dadi nani nana behen bachchon bachche, radd=रद्द radd,
  shanti=शांति चैन सुकून shanti chain sukoon, bakhsh=बख्श bakhsh, rehne=रहने जीने rehne jeene, fenk=फेंक फाड़ fenk phaad,
  bhejo=भेजो भेजना भेजिए bhejo, pata=पता, sakte=सकते सकती सकता sakte sakti sakta, kitni=कितनी कितना kitni kitna,
  bas=बस bas bass, ki=कि, kaam=काम kaam, rakho=रखो रखिए, register=रजिस्टर रजिस्टर्ड registered, promotional=प्रमोशनल प्रोमोशनल,
  marketing=मार्केटिंग, spam=स्पैम, agar=अगर यदि, jab=जब, kisne=किसने, likha=लिखा लिख, bata=बता, padha=पढ़ा सुना padha suna,
  maine=मैंने, mujhse=मुझसे, account=अकाउंट खाता, bill=बिल, order=ऑर्डर, office=ऑफिस दफ्तर, newsletter=न्यूज़लेटर,
  international=इंटरनेशनल विदेशी, incoming=इनकमिंग, outgoing=आउटगोइंग, maa=माँ मम्मी mummy mom, papa=पापा पिताजी,
  pati=पति पत्नी बेटे बेटी बीवी patni bete beti biwi, ghar=घर, mobile=मोबाइल, har=हर, please=प्लीज प्लीज़ कृपया, dont=डोंट, me=मी,
  my=माय माई, again=अगेन, never=नेवर, from=फ्रॉम, your=योर, do=डू दो, not=नॉट, opt=ऑप्ट, out=आउट, email=ईमेल`,
  ',',
);

export const HINDI_CLASSES: WordClasses = {
  HCALL: 'call calls phone calling sampark contact',
  MAT: 'mat na',
  NAHI: 'nahi',
  KARO: 'karo karna kar karoge jaye',
  DO: 'karo karna kar karoge do dijiye',
  // What may stand between "call" and its verb.
  BETWEEN:
    'call phone wall dobara kabhi bhi ab phir se aage mujhe aap please bilkul yaar ji bhai karke kar yahan roz baar aur to turant jaldi kripya',
  LASTING: 'dobara kabhi aage ab phir agli aainda',
  LIMIT: 'abhi aaj kal din baje pehle tak samay time sunday monday office lunch',
  // A limit further back than these words belongs to another sentence.
  BREAK: 'dobara kabhi aage aur lekin par kaha mana bola hai bhi',
  KIN: 'pariwar dada gharwalon maa maan papa mummy mom pati patni bete beti bhai behan number ghar phone wife husband',
  HBOTHER: 'pareshan disturb',
  KEPT: 'mat na nahi naya purana dnd',
  HTHREAT: 'shikayat THREAT case',
  HCONSENT: 'sahmati CONSENT',
  CUT: 'band stop ruko chhod',
  HREMOVE: 'hatao nikalo kaato mitao delete remove block blacklist unsubscribe',
  FROM: 'kaise iss database paas record aur naam number apni aapki aapka mera list system se mein me par ko please phone mobile wala call calling do not dont jaldi abhi turant yahan ke bhai ye',
  ACTIVE: 'daalo lagao lag chalu kar karo rakho hai register activate',
};
