const lists = {
  /** Easily confused words that change the meaning: numbers, days, months, yes and no. */
  exact: [
    'zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
    'twenty thirty forty fifty sixty seventy eighty ninety hundred thousand lakh crore million half quarter first second third fourth fifth',
    'monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday morning afternoon evening night noon am pm',
    'january february march april may june july august september october november december',
    'yes no not yeah nope okay never none can cannot cant do dont did didnt will wont is isnt was wasnt with without',
    'शून्य एक दो तीन चार पाँच पांच छह छः सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस तीस चालीस पचास साठ',
    'सत्तर अस्सी नब्बे सौ हज़ार हजार लाख करोड़ आधा साढ़े सवा पौने',
    'सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार आज कल परसों सुबह दोपहर शाम रात',
    'हाँ हां जी नहीं ना मत haan han nahi nahin ek do teen char paanch panch chhe saat aath nau das bees kal aaj parson',
  ],
  /** Frequent words: one that was heard was probably said. */
  common: [
    'a an the and or but so if then than that this these those there here where when what which who whom whose why how i you he she it we they',
    'me my mine your yours his her hers him its our ours us them their theirs am are be been being were have has had having does done doing',
    'would should could shall might must need needs want wants wanted like likes liked get gets got give gives gave given take takes took taken',
    'go goes going gone went come comes came make makes made see sees seen saw know knows knew say says said tell tells told ask asks asked',
    'think thinks thought look looks looking find found use used try tried call calls called calling talk talking speak speaking spoke hear heard',
    'listen wait waiting hold stop start started begin end ended open opening opened close closed closing change changed changing keep kept let',
    'put set send sent bring brought buy bought pay paid paying cost costs sell sold order ordered book booked booking cancel cancelled cancelling',
    'confirm confirmed conform schedule scheduled reschedule move moved help helped please thank thanks sorry welcome hello hi hey bye goodbye',
    'good better best bad worse fine great nice well right wrong left same other another more most less least much many few some any all both each',
    'every only just also too very really quite almost already still yet again once twice always often sometimes now later late latest early soon',
    'before after during until since ago next last past day days date week weeks weekend month months year years hour hours minute minutes moment',
    'time times clock about above across against along among around as at away back because behind below beside between by down for from into near',
    'of over through to toward under up upon while within left side top bottom front number numbers name names address dress phone mobile email mail',
    'letter letters message messages word words line list order account amount balance bank bill bills card cards cash check cheque credit debit money',
    'payment payments price prize plan plans policy insurance loan rate refund fee charge charged doctor doctors nurse patient patients clinic hospital',
    'health pain sick ill medicine pill pills tablet tablets test tests blood heart head teeth tooth eye eyes hand foot leg appointment appointments',
    'visit visits meeting room house home work office shop store school city town street road place area floor door window car bus train taxi ticket',
    'flight hotel food water tea coffee table man men woman women boy girl child children son daughter father mother brother sister wife husband friend',
    'people person somebody someone anybody nobody everyone family mister madam sir miss lady thing things something nothing anything everything problem',
    'question questions answer answers reason idea part kind type size new old young big small large little long short high low full empty free busy',
    'ready sure true false easy hard hot cold fast slow quick quickly strong weak red blue green black white yellow brown north south east west world',
    'country company service services customer customers manager agent team support department directory entry entries extension conference password',
    'pound star key press enter dial access system record recording file voice sound light weather news paper letter page book read write written wrote',
    'right write sit stand run walk play show showed turn live lives lived living love feel felt leave leaves left lose lost win won pick drop eat ate',
    'drink sleep slept wake die died born marry married council counsel daily whether cushion leader in on off out john mary maria joan',
    'है हैं हूँ हूं हो था थी थे का की के को से में पर और या तो भी ही यह ये वह वे मैं मुझे मेरा मेरी मेरे हम हमें हमारा आप आपका आपकी आपके तुम उस उसका इस',
    'इसका क्या कौन कब कहाँ कैसे क्यों कितना कितने यहाँ वहाँ यहां वहां अब अभी तब फिर बाद पहले साथ लिए चाहिए करना करनी कर करो करें किया करूँ होना होगा गया गई',
    'जाना जा रहा रही रहे आना आइए आओ दो दे देना दिया लेना लिया बोल बोलना बोलो बात बताना बताइए सुनना सुनो देखना पता नाम नंबर घर काम दिन समय बजे घंटा मिनट हफ़्ता',
    'महीना साल पैसा पैसे रुपये बिल खाता कार्ड बैंक फ़ोन फोन डॉक्टर दवा दर्द बीमार दिल आँख सिर पेट दाँत माँ पिता भाई बहन बेटा बेटी पति पत्नी दोस्त लोग आदमी औरत',
    'बच्चा अच्छा बुरा ठीक सही गलत बड़ा छोटा नया नई पुराना गर्म ठंडा बहुत थोड़ा ज़्यादा कम सब कुछ कोई और रिपोर्ट जाँच काल कल धन्यवाद शुक्रिया नमस्ते कृपया माफ़',
    'hai hain hoon hun ho tha thi the ka ki ke ko se mein par aur ya to bhi hi yeh ye woh main mujhe mera meri mere hum aap aapka kya kaun kab kahan kaise',
    'kyun kitna yahan wahan ab abhi phir baad pehle saath liye chahiye karna kar karo kiya hona gaya gayi jana raha rahi aana dena lena bolna baat naam number',
  ],
};

const wordsOf = (lines: readonly string[]): ReadonlySet<string> => new Set(lines.flatMap((line) => line.split(' ')));

/** Words that are neither replaced nor used as replacements. */
export const EXACT_WORDS = wordsOf(lists.exact);
/** Words that are rarely misheard as others. */
export const COMMON_WORDS = wordsOf([...lists.exact, ...lists.common]);
