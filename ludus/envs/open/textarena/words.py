"""Words for guessing games: common English ones, written down for this purpose."""

__all__ = ["FIVE", "LONG"]

FIVE_TEXT = """
about above actor acute admit adopt adult after again agent agree ahead alarm album alert alike alive allow alone
along alter amber amend among ample angel anger angle angry ankle apart apple apply arena argue arise armor aside
asset audio audit avoid award aware awful bacon badge badly baker basic basin basis batch beach beard beast began
begin being below bench berry birth black blade blame blank blast blaze blend bless blind block blood bloom board
boast bonus boost booth bound brain brake brand brave bread break breed brick bride brief bring broad broke brook
broom brown brush build built bunch burst buyer cabin cable camel candy canal cargo carry carve catch cause cease
chain chair chalk charm chart chase cheap check cheek cheer chess chest chief child chill choir chose civic civil
claim class clean clear clerk click cliff climb clock close cloth cloud coach coast color comet comic coral couch
could count court cover crack craft crane crash cream creek crest crime crisp cross crowd crown cruel crush curve
cycle daily dairy daisy dance dealt death debut decay delay delta dense depth devil diary dirty ditch donor doubt
dozen draft drain drama drank dream dress dried drift drill drink drive drove eager eagle early earth eight elbow
elder elect elite empty enemy enjoy enter entry equal error essay event every exact exist extra fable faith false
fancy fault favor feast fence ferry fever field fiber fifth fifty fight final first flame flash fleet flesh float
flood floor flour fluid flute focus force forge forth forty forum found frame fraud fresh front frost fruit fully
funny ghost giant given glass globe glory glove grace grade grain grand grant grape graph grasp grass grave great
green greet grief grill gross group grove guard guess guest guide habit happy harsh haste haven heart heavy hedge
hello hence honey honor horse hotel house human humor hurry ideal image index inner input irony issue ivory jelly
jewel joint judge juice karma kayak knife knock known label labor large laser later laugh layer learn lease least
leave legal lemon level lever light limit linen liver local lodge logic loose lover lower loyal lucky lunar lunch
magic major maker maple march marsh match maybe mayor medal media melon mercy merge merit merry metal meter midst
might minor minus mixed model moist money month moral motor mount mouse mouth movie music nerve never newly night
noble noise north novel nurse ocean offer often olive onion opera orbit order organ other ought outer owner paint
panel panic paper party pasta patch pause peace peach pearl phase phone photo piano piece pilot pinch pitch place
plain plane plant plate point polar porch pound power press price pride prime print prize proof proud prove pulse
punch pupil puppy queen query quest quick quiet quilt quite quote radar radio rainy raise rally ranch range rapid
ratio reach react ready realm rebel refer reign relax reply rider ridge rifle right rigid risky rival river roast
robin robot rocky rough round route royal rural sadly saint salad salty sandy sauce scale scare scarf scene scent
scope score scout screw sense serve seven shade shake shall shape share shark sharp sheep sheet shelf shell shift
shine shirt shock shoot shore short shout shown sight silly since skill skirt slate sleep slice slide slope small
smart smile smoke snake solar solid solve sorry sound south space spare spark speak speed spell spend spice spine
split spoke spoon sport squad stack staff stage stain stair stake stamp stand stare start state steam steel steep
stick still stock stone stood store storm story stove strap straw strip study stuff style sugar suite sunny super
surge swamp swear sweat sweet swept swift swing sword table taste teach tempo tenth thank theft their theme there
thick thief thing think third thorn those three threw throw thumb tiger tight timer title toast today token tooth
topic torch total touch tough towel tower toxic trace track trade trail train trait treat trend trial tribe trick
tried troop truck truly trunk trust truth tulip twice twist uncle under union unite until upper upset urban usage
usual vague valid value vapor vault verse video vigor virus visit vital vivid vocal voice voter wagon waist waste
watch water weary weave wedge whale wheat wheel where which while white whole whose widow width woman world worry
worse worst worth would wound wrist write wrong yacht yield young youth zebra
"""
LONG_TEXT = """
adventure airport balloon baseball bicycle blanket bridge building butterfly calendar camera captain carpet castle
century champion chicken chimney chocolate circle climate compass computer concert country courage dentist desert
diamond dinosaur dolphin doorbell dragon education elephant engine evening family farmer feather festival firefly
football forest freedom garden giraffe glacier gravity guitar hammer harbor harvest history holiday horizon hospital
iceberg island jacket journey jungle kangaroo keyboard kitchen ladder language lantern library lightning machine
magnet mailbox mountain museum musician mystery notebook orchestra painter panther parade passenger peanut penguin
pepper picture pillow pirate planet pocket postcard pumpkin puzzle rabbit railway rainbow rocket sailor sandwich
satellite science shadow shelter silence snowflake spider squirrel station strawberry sunflower surprise teacher
telescope theater thunder tomato traveler treasure triangle turtle umbrella vacation village violin volcano
waterfall weather whisper window winter wizard
"""
FIVE = tuple(FIVE_TEXT.split())
"""Of five letters."""
LONG = tuple(LONG_TEXT.split())
"""Of six letters and more."""
