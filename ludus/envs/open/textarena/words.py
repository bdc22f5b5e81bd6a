"""Words for guessing games: common English ones, written down for this purpose."""

__all__ = ["FIVE", "LONG", "SHORT"]

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
SHORT_TEXT = """
able acid aged area army back bake ball band bank bare barn base bath bead beam bean bear beat bell belt bend best bike
bill bird bite blue boat body bold bolt bond bone book boot born both bowl bulk burn bush cage cake call calm came camp
cane cape card care cart case cash cast cave cell chat chip city clay clip club coal coat code coin cold come cook cool
cord core corn cost cove crew crop cure dare dark dash data dawn dead deal dear deer desk dial dice dish dive dock does
done door dose down draw drop drum dull dust duty each earn ease east easy edge face fact fade fail fair fall fame farm
fast fate fear feed feel file fill film find fine fire firm fish five flag flat flow fold folk food foot fork form four
free fuel full gain game gate gear gift girl give glad goal gold good gray grow hair half hall hand hang hard harm have
head heal hear heat help herd hero hide high hill hint hold hole home hook hope horn host hour huge hunt idea iron item
join jump just keen keep kick kind king kite knee knot lack lake lamp land lane last late lead leaf lean left lend less
life lift like line link lion list live load loan lock long look lord lose loss loud love luck mail main make male many
mark mask mass meal mean meat meet melt menu mild mile milk mind mine miss mist mode moon more most move much must nail
name near neck need nest news next nice nine node none noon nose note oath open oven over pace pack page pain pair pale
park part past path peak pick pine pink pipe plan play plot plus poem pole pond pool poor port pose post pull pure push
race rain rank rare rate read real rest rice rich ride ring rise risk road rock role roll roof room root rope rose rule
rush safe sail salt same sand save seal seat seed seek sell send ship shoe shop show side sign silk sing site size skin
slip slow snow soft soil sold sole song soon sort soul soup spin spot star stay stem step stop suit sure swim tail take
tale tall tank tape task team tell tent term test text than that them thin this tide till time tiny tone tool tour town
tree trip true tube tune turn twin type unit upon vary vast verb very vest view vote wage wait wake walk wall want warm
wash wave weak wear week well west what wheel when wide wife wild will wind wine wing wire wise wish with wolf wood word
work yard yarn year zero zone act add age air arm art ask bad bag bar bat bed bee big box boy bus car cat cup cut dog
ear eat egg end eye fan far fly fox fun hat hen hot ice ink jar job key kid leg let lid log map mat net nut oak oil
old one owl own pan pen pet pig pot red rod row run sea see set
sit sky son sun tea ten tie toe top toy two use van war way web
wet win zoo
"""
FIVE = tuple(FIVE_TEXT.split())
"""Of five letters."""
LONG = tuple(LONG_TEXT.split())
"""Of six letters and more."""
SHORT = tuple(dict.fromkeys(SHORT_TEXT.replace("wheel ", "").split()))
"""Of three and four letters."""
