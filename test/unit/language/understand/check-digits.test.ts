import { describe, expect, it } from 'vitest';
import { withoutCardNumbers } from '../../../../src/language/understand/check-digits.ts';

describe('a card number', () => {
  it.each([
    ['my card is 4111 1111 1111 1111 thanks', 'my card is ************1111 thanks'],
    ['it is four one double one, one one one one, one one one one, one one one one okay', 'it is ************1111 okay'],
    ['मेरा कार्ड नंबर चार एक एक एक एक एक एक एक एक एक एक एक एक एक एक एक है', 'मेरा कार्ड नंबर ************1111 है'],
    ['Amex 3782-822463-10005', 'Amex ***********0005'],
    ['४१११११११११११११११', '************1111'],
    ['6521 1111 1111 1117 and 5555 5555 5555 4444', expect.stringMatching(/\*{12}4444$/u)],
    // With the date behind it.
    ['4111111111111111 12 27', '************1111 12 27'],
  ])('is known by its last four digits: %s', (said, written) => {
    expect(withoutCardNumbers(said)).toEqual(written);
  });

  it.each([
    ['a telephone number', 'call me at +91 98765 43210'],
    ['a wrong check digit', '4111 1111 1111 1112'],
    ['an IMEI, which has a check digit too', 'the IMEI is 490154203237518'],
    ['an order', 'order 1234567890123'],
    ['no number', 'I would like to speak to somebody for a moment'],
  ])('is not %s', (_, said) => {
    expect(withoutCardNumbers(said)).toBe(said);
  });
});
