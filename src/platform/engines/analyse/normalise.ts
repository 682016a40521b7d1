import { Glossary, type Replacement } from './glossary.ts';

/** Words always written in capitals. */
const acronyms = new Set(
  `ac api asap atm bp cctv ceo cfo cto cv dob ecg eft emi eta eu faq gps gst hdfc hr iban icici icu id ifsc imei ip isp it kyc mri neft
  ngo opd otp pan pdf pin pnr po pos qr rbi rtgs sbi sim sms tv uk un upi url usa usb vat vip vpn`.split(/\s+/),
);
/** Acronyms that are also words. */
const doubtful = new Set(['it', 'un', 'po', 'pos', 'pan']);
const names = new Map(
  `monday tuesday wednesday thursday friday saturday sunday january february april june july august september october november december
  india english hindi delhi mumbai bengaluru chennai kolkata hyderabad america london`
    .split(/\s+/)
    .map((name) => [name, name.slice(0, 1).toUpperCase() + name.slice(1)]),
);

/**
 * The transcript with capitals for acronyms, names and beginnings of sentences, and with the glossary's spelling of its terms. Indian
 * scripts have no capitals: there only the glossary has an effect.
 */
export function normalise(utterances: readonly string[], glossary: Glossary): string {
  return utterances
    .map((utterance) => {
      const words = joinLetters(utterance.split(/\s+/).filter((word) => word !== ''));
      const found = glossary.replacements(words);
      const out: string[] = [];
      for (let at = 0; at < words.length;) {
        const hit = found.find(({ from }) => from === at);
        out.push(hit?.text ?? capitals(words[at] ?? ''));
        at += hit?.count ?? 1;
      }
      return startWithCapital(out.join(' '), found[0]?.from === 0);
    })
    .filter((utterance) => utterance !== '')
    .join(' ');
}

/** Joins spelt letters: `a t m` and `A. T. M.` become `ATM`. A single `i` or `a` is a word. */
function joinLetters(words: readonly string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < words.length;) {
    let end = at;
    while (end < words.length && /^\p{Script=Latin}\.?$/u.test(words[end] ?? '')) end += 1;
    const letters = words.slice(at, end).map((word) => word.slice(0, 1));
    // Three letters, or two of a known acronym; `a b` may be a list.
    if (letters.length >= 3 || (letters.length === 2 && acronyms.has(letters.join('').toLowerCase()))) {
      out.push(letters.join('').toUpperCase());
      at = end;
    } else {
      out.push(words[at] ?? '');
      at += 1;
    }
  }
  return out;
}

function capitals(word: string): string {
  const bare = /^\p{L}+/u.exec(word)?.[0] ?? '';
  const lower = bare.toLowerCase();
  if (acronyms.has(lower) && !doubtful.has(lower)) return bare.toUpperCase() + word.slice(bare.length);
  if (lower === 'i') return `I${word.slice(1)}`;
  return (names.get(lower) ?? bare) + word.slice(bare.length);
}

function startWithCapital(text: string, keep: boolean): string {
  const capital = keep ? text : text.replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
  return capital.replaceAll(/([.?!] )(\p{Ll})/gu, (_, mark: string, letter: string) => mark + letter.toUpperCase());
}

/** Diseases, findings, medicines and procedures that a general recogniser often misspells. */
const terms = `acetaminophen, allergic rhinitis, amlodipine, amoxicillin, anaemia, anaesthesia, analgesic, angina, angiography, angioplasty, antibiotic, anticoagulant,
  antihistamine, appendicitis, arrhythmia, arteriosclerosis, arthritis, aspirin, asthma, atenolol, atherosclerosis, atorvastatin, atrial fibrillation,
  azithromycin, bacterial, benign, bilirubin, biopsy, blood pressure, bradycardia, bronchitis, bronchoscopy, cardiac arrest, cardiologist, cardiology,
  cardiomyopathy, cataract, catheter, ceftriaxone, cetirizine, chemotherapy, cholecystectomy, cholesterol, chronic, ciprofloxacin, cirrhosis, clopidogrel,
  colonoscopy, conjunctivitis, corticosteroid, creatinine, cyanosis, dehydration, dementia, dengue, dermatitis, dermatologist, diabetes, diabetes mellitus, diabetic,
  dialysis, diarrhoea, diazepam, diclofenac, diphtheria, diuretic, doxycycline, dyspnoea, echocardiogram, eczema, electrocardiogram, embolism, emphysema,
  encephalitis, endocrinologist, endoscopy, epilepsy, erythromycin, oesophagus, fibromyalgia, fluconazole, fluoxetine, furosemide, gabapentin, gastritis,
  gastroenteritis, gastroenterologist, glaucoma, glibenclamide, glimepiride, glucose, gynaecologist, haematoma, haemoglobin, haemorrhage, haemorrhoids,
  hepatitis, hernia, hydrochlorothiazide, hydroxychloroquine, hyperglycaemia, hyperlipidaemia, hypertension, hypertensive, hyperthyroidism, hypoglycaemia,
  hypotension, hypothyroidism, hysterectomy, ibuprofen, immunisation, influenza, inflammation, insulin, intravenous, ischaemia, jaundice, ketoacidosis,
  laparoscopy, levothyroxine, ligament, lisinopril, loratadine, losartan, lymphoma, malaria, malignant, mammogram, melanoma, meningitis, menopause, metastasis,
  metformin, metoprolol, metronidazole, migraine, montelukast, morphine, myalgia, myocardial infarction, myocarditis, naproxen, nausea, nebuliser, nephrologist,
  nephropathy, neuralgia, neurologist, neuropathy, oedema, omeprazole, oncologist, ondansetron, ophthalmologist, orthopaedic, osteoarthritis, osteoporosis,
  otitis, palpitations, pancreatitis, pantoprazole, paracetamol, paralysis, parkinson's disease, pathology, penicillin, pericarditis, pharyngitis, phlebitis,
  physiotherapy, pneumonia, pneumothorax, prednisolone, propranolol, prostate, psoriasis, psychiatrist, pulmonary, radiology, ranitidine, rheumatoid arthritis,
  rosuvastatin, salbutamol, schizophrenia, sciatica, sepsis, sertraline, sinusitis, spondylitis, spondylosis, stethoscope, streptococcus, stroke, tachycardia,
  tamoxifen, telmisartan, tetanus, thrombosis, thyroid, tonsillitis, tramadol, tuberculosis, typhoid, ulcerative colitis, ultrasound, urinalysis, urticaria,
  vaccination, varicose veins, vasectomy, vertigo, warfarin, मधुमेह, रक्तचाप, उच्च रक्तचाप, निमोनिया, तपेदिक, पीलिया, पैरासिटामोल, एंटीबायोटिक, इंसुलिन,
  मलेरिया, टाइफाइड, डेंगू`;

const glossary = new Glossary(terms.split(','), 'strict');

/** Corrections of medical terms that the recogniser misspelt or split. */
export function medicalCorrections(words: readonly string[]): Replacement[] {
  return glossary.replacements(words);
}
