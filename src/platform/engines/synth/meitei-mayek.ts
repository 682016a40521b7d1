const letters: Readonly<Record<string, string>> = {
  ꯀ: 'ক',
  ꯁ: 'স',
  ꯂ: 'ল',
  ꯃ: 'ম',
  ꯄ: 'প',
  ꯅ: 'ন',
  ꯆ: 'চ',
  ꯇ: 'ত',
  ꯈ: 'খ',
  ꯉ: 'ঙ',
  ꯊ: 'থ',
  ꯋ: 'ব',
  ꯌ: 'য়',
  ꯍ: 'হ',
  ꯎ: 'উ',
  ꯏ: 'ই',
  ꯐ: 'ফ',
  ꯑ: 'অ',
  ꯒ: 'গ',
  ꯓ: 'ঝ',
  ꯔ: 'র',
  ꯕ: 'ব',
  ꯖ: 'জ',
  ꯗ: 'দ',
  ꯘ: 'ঘ',
  ꯙ: 'ধ',
  ꯚ: 'ভ',
  // Consonants without a vowel, at the end of a syllable.
  ꯛ: 'ক্',
  ꯜ: 'ল্',
  ꯝ: 'ম্',
  ꯞ: 'প্',
  ꯟ: 'ন্',
  ꯠ: 'ৎ',
  ꯡ: 'ং',
  ꯢ: 'ই',
  '\uabe3': 'ো',
  '\uabe4': 'ি',
  '\uabe5': 'া',
  '\uabe6': 'ে',
  '\uabe7': 'ৌ',
  '\uabe8': 'ু',
  '\uabe9': 'ৈ',
  '\uabea': 'ং',
  '\uabec': '',
  '\uabed': '্',
  '\uabeb': '।',
};

/** Bengali letters for the vowel carrier with a vowel sign. */
const carried: Readonly<Record<string, string>> = { 'া': 'আ', 'ি': 'ই', 'ে': 'এ', 'ো': 'ও', 'ৌ': 'ঔ', 'ু': 'উ', 'ৈ': 'ঐ' };

const FIRST_DIGIT = 0xabf0;

/** Writes Manipuri's Meitei Mayek in Bengali script, as was usual for two centuries; other characters are kept. */
export function meiteiToBengali(text: string): string {
  return text
    .replaceAll(/[\uabc0-\uabff]/g, (letter) => {
      const digit = letter.charCodeAt(0) - FIRST_DIGIT;
      return digit >= 0 && digit < 10 ? String.fromCodePoint(0x9e6 + digit) : (letters[letter] ?? '');
    })
    .replaceAll(/অ([ািেোৌুৈ])/g, (_, sign: string) => carried[sign] ?? '');
}
