import { Glossary, type Replacement } from './glossary.ts';

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
