/** What a word counts, English and Hindi. */
export const units = new Map<string, number>();
/** What multiplies the number before it. */
export const scales = new Map<string, number>(
  Object.entries({
    hundred: 100,
    thousand: 1_000,
    lakh: 100_000,
    lakhs: 100_000,
    million: 1_000_000,
    crore: 10_000_000,
    crores: 10_000_000,
    सौ: 100,
    हज़ार: 1_000,
    हजार: 1_000,
    लाख: 100_000,
    करोड़: 10_000_000,
  }).map(([word, value]) => [word.normalize('NFC'), value]),
);

function count(from: number, step: number, words: string): void {
  for (const [index, variants] of words.split(/\s+/).entries()) {
    for (const word of variants.split('/')) units.set(word.normalize('NFC'), from + index * step);
  }
}
count(
  0,
  1,
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen`,
);
count(20, 10, 'twenty thirty forty/fourty fifty sixty seventy eighty ninety');
count(
  0,
  1,
  `शून्य/ज़ीरो/जीरो एक दो तीन चार पाँच/पांच छह/छः/छे सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह/पन्द्रह सोलह सत्रह अठारह उन्नीस
  बीस इक्कीस बाईस/बाइस तेईस/तेइस चौबीस पच्चीस छब्बीस सत्ताईस/सत्ताइस अट्ठाईस/अट्ठाइस/अठाईस उनतीस/उन्तीस तीस इकतीस/इकत्तीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस
  अड़तीस उनतालीस/उन्तालीस चालीस इकतालीस बयालीस तैंतालीस चौवालीस/चवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास/उन्चास पचास इक्यावन बावन तिरपन चौवन/चौअन पचपन
  छप्पन सत्तावन अट्ठावन/अठावन उनसठ साठ इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर
  अठहत्तर उनासी/उन्यासी अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी/अठासी नवासी नब्बे इक्यानवे/इक्यानबे बानवे/बानबे तिरानवे/तिरानबे चौरानवे/चौरानबे
  पचानवे/पंचानबे छियानवे/छियानबे सत्तानवे/सत्तानबे अट्ठानवे/अट्ठानबे निन्यानवे/निन्यानबे`,
);
