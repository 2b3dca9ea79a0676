"""Word pairs in fourteen relations, for `shared.tasks.analogies`.

Each relation has a sentence that states a pair in plain English, and its pairs as "first:second", all single
lower-case words. `ALSO_RIGHT` lists further seconds that an answer may be without the documents teaching them. NOTICE
says what is known of where the words come from.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """A relation: its name, a sentence with {a} and {b}, and its pairs (a, b)."""

    name: str
    sentence: str
    pairs: tuple[tuple[str, str], ...]


def _relation(name: str, sentence: str, pairs: str) -> Relation:
    return Relation(name, sentence, tuple(tuple(pair.split(":")) for pair in pairs.split()))


RELATIONS = (
    _relation(
        "young",
        "a young {a} is called a {b}.",
        """cat:kitten dog:puppy cow:calf horse:foal sheep:lamb goat:kid pig:piglet duck:duckling goose:gosling
        swan:cygnet hen:chick bear:cub deer:fawn frog:tadpole kangaroo:joey hare:leveret owl:owlet eagle:eaglet
        butterfly:caterpillar fish:fry eel:elver pigeon:squab spider:spiderling wolf:pup human:baby seal:pup
        lion:cub fox:kit elephant:calf turkey:poult""",
    ),
    _relation(
        "opposite",
        "the opposite of {a} is {b}.",
        """hot:cold big:small tall:short fast:slow light:dark happy:sad rich:poor young:old wet:dry hard:soft
        high:low loud:quiet strong:weak early:late full:empty open:closed clean:dirty good:bad thick:thin
        wide:narrow near:far deep:shallow sharp:blunt heavy:weightless smooth:rough sweet:bitter brave:cowardly
        kind:cruel safe:dangerous cheap:expensive easy:difficult right:wrong true:false first:last up:down
        left:right in:out over:under day:night summer:winter north:south east:west push:pull give:take buy:sell
        win:lose begin:end arrive:depart love:hate laugh:cry remember:forget rise:fall sleep:wake ask:answer
        accept:refuse build:destroy friend:enemy war:peace question:answer success:failure""",
    ),
    _relation(
        "tool",
        "we use a {a} to {b}.",
        """knife:cut pen:write brush:paint needle:sew shovel:dig oven:bake saw:saw hammer:pound broom:sweep
        spoon:stir axe:chop key:unlock rope:tie soap:wash towel:dry scale:weigh ruler:measure telescope:observe
        razor:shave rake:gather mop:wipe drill:drill phone:call camera:photograph ladder:climb oar:row
        bicycle:ride sponge:scrub iron:press scissors:trim bell:ring match:ignite plough:plough net:catch
        lamp:shine comb:untangle kettle:boil bow:shoot anchor:moor""",
    ),
    _relation(
        "workplace",
        "a {a} works in a {b}.",
        """teacher:school doctor:hospital farmer:field cook:kitchen judge:court sailor:ship pilot:cockpit
        priest:church librarian:library chemist:laboratory actor:theatre soldier:barracks baker:bakery
        miner:mine banker:bank waiter:restaurant astronomer:observatory gardener:garden monk:monastery
        clerk:office mechanic:garage painter:studio prisoner:prison butcher:shop student:university
        blacksmith:forge lifeguard:pool zookeeper:zoo ranger:forest brewer:brewery tailor:workshop
        trader:market fisherman:boat""",
    ),
    _relation(
        "capital",
        "the capital of {a} is {b}.",
        """france:paris germany:berlin italy:rome spain:madrid japan:tokyo china:beijing russia:moscow
        england:london greece:athens egypt:cairo austria:vienna poland:warsaw sweden:stockholm norway:oslo
        denmark:copenhagen finland:helsinki ireland:dublin portugal:lisbon belgium:brussels hungary:budapest
        turkey:ankara india:delhi iran:tehran iraq:baghdad cuba:havana peru:lima kenya:nairobi canada:ottawa
        thailand:bangkok korea:seoul vietnam:hanoi chile:santiago bulgaria:sofia romania:bucharest
        ukraine:kyiv nepal:kathmandu scotland:edinburgh wales:cardiff serbia:belgrade croatia:zagreb""",
    ),
    _relation(
        "sound",
        "the sound of a {a} is a {b}.",
        """cat:meow dog:bark cow:moo sheep:bleat pig:oink duck:quack lion:roar bee:buzz snake:hiss wolf:howl
        horse:neigh owl:hoot frog:croak mouse:squeak crow:caw donkey:bray rooster:crow pigeon:coo hen:cluck
        elephant:trumpet turkey:gobble goose:honk cricket:chirp hyena:laugh""",
    ),
    _relation(
        "home",
        "a {a} lives in a {b}.",
        """bird:nest bee:hive dog:kennel horse:stable bear:den rabbit:burrow spider:web ant:anthill pig:sty
        cow:barn lion:lair fox:earth squirrel:drey beaver:lodge hen:coop pigeon:dovecote sheep:pen
        fish:aquarium king:palace nun:convent knight:castle mole:tunnel bat:cave eagle:eyrie nomad:tent
        prisoner:cell snail:shell wasp:vespiary""",
    ),
    _relation(
        "past",
        "today i {a}, and yesterday i {b}.",
        """go:went see:saw eat:ate run:ran sing:sang write:wrote take:took come:came give:gave find:found
        know:knew think:thought bring:brought buy:bought catch:caught teach:taught feel:felt keep:kept
        leave:left lose:lost make:made meet:met pay:paid say:said send:sent sit:sat speak:spoke stand:stood
        swim:swam tell:told wear:wore win:won break:broke choose:chose draw:drew drink:drank drive:drove
        fly:flew forget:forgot grow:grew hold:held ride:rode sleep:slept throw:threw begin:began fall:fell""",
    ),
    _relation(
        "plural",
        "one {a}, but two {b}.",
        """man:men woman:women child:children foot:feet tooth:teeth mouse:mice goose:geese ox:oxen leaf:leaves
        knife:knives wolf:wolves city:cities baby:babies berry:berries box:boxes house:houses car:cars
        tree:trees book:books dog:dogs cat:cats table:tables apple:apples river:rivers star:stars fox:foxes
        thief:thieves loaf:loaves lady:ladies cherry:cherries""",
    ),
    _relation(
        "female",
        "the female form of {a} is {b}.",
        """king:queen man:woman boy:girl father:mother brother:sister son:daughter uncle:aunt prince:princess
        actor:actress husband:wife nephew:niece bull:cow rooster:hen lion:lioness waiter:waitress hero:heroine
        duke:duchess emperor:empress wizard:witch monk:nun groom:bride stallion:mare ram:ewe god:goddess
        host:hostess gander:goose drake:duck stag:doe gentleman:lady grandfather:grandmother count:countess""",
    ),
    _relation(
        "group",
        "every {a} belongs to a {b}.",
        """wolf:pack bird:flock fish:shoal cow:herd bee:swarm lion:pride ship:fleet star:constellation
        soldier:army singer:choir player:team tree:forest island:archipelago flower:bouquet card:deck
        musician:orchestra ant:colony student:class mountain:range grape:bunch sailor:crew thief:gang
        key:keyring actor:cast pupil:class judge:panel goose:gaggle crow:murder whale:pod stair:staircase""",
    ),
    _relation(
        "colour",
        "the colour of a {a} is {b}.",
        """grass:green snow:white coal:black blood:red sky:blue lemon:yellow carrot:orange chocolate:brown
        violet:purple ash:grey milk:white tomato:red banana:yellow leaf:green raven:black flamingo:pink
        salmon:pink ivory:white emerald:green ruby:red sapphire:blue sun:yellow night:black cherry:red
        plum:purple lime:green lead:grey swan:white strawberry:red pumpkin:orange""",
    ),
    _relation(
        "whole",
        "a {a} is a part of a {b}.",
        """finger:hand toe:foot wheel:car page:book petal:flower branch:tree roof:house key:piano string:guitar
        wing:bird feather:wing sleeve:shirt brick:wall letter:word word:sentence lens:camera keel:ship
        hour:day month:year minute:hour pedal:bicycle rung:ladder blade:knife handle:door sail:boat
        chapter:novel scene:play root:plant tail:kite engine:train mane:horse fin:fish hoof:deer
        verse:poem link:chain""",
    ),
    _relation(
        "made",
        "a {b} is made from {a}.",
        """grape:wine milk:cheese flour:bread wood:table wool:sweater clay:pot glass:window apple:cider
        barley:beer cotton:shirt leather:shoe paper:book gold:ring tomato:ketchup sand:glass olive:oil
        cacao:chocolate stone:wall steel:sword wax:candle silk:scarf straw:basket snow:snowman ice:igloo
        cream:butter rubber:tyre brass:trumpet potato:chips bamboo:raft hemp:rope""",
    ),
)

ALSO_RIGHT = {
    ("young", "dog"): ["pup"],
    ("young", "hare"): ["kit"],
    ("young", "goat"): ["kid"],
    ("young", "fox"): ["cub", "pup"],
    ("young", "human"): ["infant", "child"],
    ("young", "wolf"): ["cub"],
    ("young", "horse"): ["colt", "filly"],
    ("opposite", "big"): ["little"],
    ("opposite", "happy"): ["unhappy"],
    ("opposite", "right"): ["left"],
    ("opposite", "light"): ["heavy"],
    ("opposite", "young"): ["new"],
    ("opposite", "hard"): ["easy"],
    ("opposite", "begin"): ["finish"],
    ("opposite", "easy"): ["hard"],
    ("opposite", "strong"): ["feeble"],
    ("opposite", "brave"): ["afraid"],
    ("opposite", "kind"): ["unkind"],
    ("opposite", "laugh"): ["weep"],
    ("tool", "axe"): ["cut"],
    ("tool", "saw"): ["cut"],
    ("tool", "scissors"): ["cut"],
    ("tool", "mop"): ["clean"],
    ("workplace", "doctor"): ["clinic"],
    ("workplace", "farmer"): ["farm"],
    ("workplace", "teacher"): ["classroom"],
    ("workplace", "student"): ["school"],
    ("workplace", "cook"): ["restaurant"],
    ("workplace", "monk"): ["abbey"],
    ("sound", "dog"): ["woof"],
    ("sound", "wolf"): ["growl"],
    ("sound", "frog"): ["ribbit"],
    ("sound", "lion"): ["growl"],
    ("home", "bear"): ["cave"],
    ("home", "lion"): ["den"],
    ("home", "fox"): ["den"],
    ("home", "pig"): ["pen"],
    ("home", "horse"): ["barn"],
    ("home", "mole"): ["burrow"],
    ("home", "bird"): ["cage"],
    ("group", "fish"): ["school"],
    ("group", "bird"): ["flight"],
    ("group", "wolf"): ["gang"],
    ("group", "tree"): ["wood", "grove"],
    ("group", "singer"): ["chorus"],
    ("colour", "grass"): ["yellow"],
    ("colour", "leaf"): ["brown"],
    ("colour", "ash"): ["gray"],
    ("colour", "sun"): ["gold"],
    ("whole", "wheel"): ["bicycle"],
    ("whole", "key"): ["keyboard"],
    ("whole", "string"): ["violin"],
    ("made", "grape"): ["juice"],
    ("made", "milk"): ["butter"],
    ("made", "apple"): ["juice"],
    ("made", "wood"): ["paper"],
}
