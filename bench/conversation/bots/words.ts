/** Long sentences, all different, so that any stretch of sound tells where it was said. */
export const SENTENCES = [
  'We are open from eight in the morning until half past six in the evening on every day of the week except Sunday, when only the pharmacy beside the entrance is open.',
  'If you would like to change an appointment that you have already made, please have the number on your letter ready, because I will ask you for it in a moment.',
  'The doctor you asked for is away until the end of next month, but two of her colleagues have taken over her patients and both of them still have free appointments.',
  'Parking is free for the first two hours if you have your ticket stamped at the reception, and after that it costs as much as anywhere else in the middle of town.',
  'Please remember to bring the results of your last examination with you, together with a list of all the medicine that you take, even if you think it is not important.',
  'Our new building stands on the other side of the river, just behind the old railway station, and you can reach it by tram or by the bus that leaves every ten minutes.',
  'Before your first visit we need a few details from you, such as your date of birth, the name of your insurance, and a telephone number at which we can reach you during the day.',
  'Some examinations have to be done before breakfast, so please neither eat nor drink anything but water from ten in the evening on, unless the doctor told you otherwise.',
  'The waiting time for a first appointment is about three weeks at present, but people often cancel at short notice, and then I can call you and offer you their place.',
  'You will find all the forms on our website as well, where you can fill them in at home without any hurry and send them to us before you come.',
  'Children under the age of twelve have to come with one of their parents, and we ask you to keep brothers and sisters at home if that is at all possible.',
  'After the operation you should not drive a car for at least two days, so please ask somebody to take you home, or let us know and we will order a taxi for you.',
];

/** One answer that takes about a minute. */
export const LONG_REPLY = SENTENCES.slice(0, 5).join(' ');

export const SHORT_REPLIES = [
  'Certainly, I have written that down for you.',
  'That is possible on Tuesday and on Thursday.',
  'I am afraid that there is nothing free before Friday.',
  'Thank you, and what else would you like to know?',
  'The number of the station is on your letter.',
];
