# SPDX-License-Identifier: Apache-2.0
# Completion of the tenon command for bash. Options are asked from the command itself, so they are never out of date.
_tenon() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "run info bench explain compare profile convert doctor tune cache help --help --version" -- "$word"))
        return
    fi
    case $before in
        --inputs|--npy) COMPREPLY=($(compgen -d -- "$word")); return ;;
        --target) COMPREPLY=($(compgen -W "host none portable avx2 avx512" -- "$word")); return ;;
        --isa) COMPREPLY=($(compgen -W "portable avx2 avx512 vnni" -- "$word")); return ;;
        --device) COMPREPLY=($(compgen -W "cpu" -- "$word")); return ;;
        --color) COMPREPLY=($(compgen -W "auto always never" -- "$word")); return ;;
        --fit) COMPREPLY=($(compgen -W "stretch crop pad" -- "$word")); return ;;
        --normalise) COMPREPLY=($(compgen -W "unit signed imagenet none" -- "$word")); return ;;
        --channels) COMPREPLY=($(compgen -W "rgb bgr gray" -- "$word")); return ;;
        --layout) COMPREPLY=($(compgen -W "nchw nhwc" -- "$word")); return ;;
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$(tenon "$verb" --help 2>/dev/null | grep -oE '^  (-h, )?--[a-z-]+' | grep -oE '\-\-[a-z-]+')" -- "$word"))
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _tenon tenon
