# SPDX-License-Identifier: BSD-2-Clause
# Completion of petscamb for bash; make install puts it where bash-completion finds it. By hand: source config/petscamb.bash
_petscamb() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words=
  local types="aij amb nussell ccoo tilecomposite autosparse hashgemm sell aijperm csr mkl graphblas aijcusparse"
  if [ "$COMP_CWORD" = 1 ]; then
    words="bench solve info graph tiletable -h --help --version"
  else
    case $before in
    -types | -mat_type) words=$types ;;
    -ops) words="spmv spmvt spmvadd convert update assemble reassemble square resquare ata ap reap lu tall unsorted spmm spmmt sddmm" ;;
    -csv | -json | -html | -plot | -compare | -mkl_dir | -graphblas_lib)
      COMPREPLY=($(compgen -f -- "$word"))
      return
      ;;
    esac
    case $word in
    -*)
      case $word in --*) word=${word#-} ;; esac # GNU's spelling
      case $command in
      bench) words="-types -ops -columns -reps -seconds -processor_time -csv -json -html -compare -mkl_dir -graphblas_lib" ;;
      solve) words="-types -seconds -rounds -limit -csv -json -scaled -apart" ;;
      info) words="-csv -json -plot" ;;
      graph) words="-undirected -unweighted -top -json -csv -mat_type -tol -iterations -c -dangling -order -peer -seeds -sources -count -inflation -prune -keep -batch" ;;
      esac
      words="$words -h"
      ;;
    esac
    [ "$command $COMP_CWORD" = "graph 2" ] && words="pagerank hits rwr bfs triangles mcl"
  fi
  if [ -z "$words" ]; then
    COMPREPLY=($(compgen -f -- "$word"))
  else
    # of a list with commas, its last name
    local head=
    case $before in -types | -ops) case $word in *,*) head=${word%,*}, ;; esac ;; esac
    COMPREPLY=($(compgen -P "$head" -W "$words" -- "${word#"$head"}"))
  fi
}
complete -o filenames -F _petscamb petscamb bin/petscamb
